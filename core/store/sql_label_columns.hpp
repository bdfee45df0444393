// SPDX-License-Identifier: Apache-2.0
// The labels that have a column of their own in the SQL tables.
#pragma once

#include <array>
#include <string_view>

#include "core/store/packed_labels.hpp"

#include <sqlite3.h>

namespace koord::store {

inline constexpr std::array<const char*, 6> kLabelColumns{"node",    "pod_namespace",  "pod_name",
                                                          "pod_uid", "container_name", "container_id"};
inline constexpr const char* kLabelColumnList =
    "node TEXT, pod_namespace TEXT, pod_name TEXT, pod_uid TEXT, container_name TEXT, container_id TEXT, labels TEXT";

inline void give_text(sqlite3_context* context, std::string_view text) {
  sqlite3_result_text64(context, text.data() ? text.data() : "", text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// `at` counts from the first label column; the one after the last is `labels`.
inline void give_label(sqlite3_context* context, std::string_view packed, std::size_t at) {
  if (at == kLabelColumns.size()) return give_text(context, labels_as_json(packed));
  give_text(context, label_value(packed, kLabelColumns[at]));
}

}  // namespace koord::store
