// SPDX-License-Identifier: Apache-2.0
// Labels as one byte string: sorted by name, without empty values, so that equal labels are equal bytes. The form in
// which the catalogue keeps them, in memory and in the file. [any thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/store/bytes.hpp"
#include "core/store/types.hpp"

namespace koord::store {

std::string pack_labels(Labels labels);

// Calls visit(name, value) for each label; false when the bytes are damaged.
template <class Visit>
bool for_each_label(std::string_view packed, Visit visit) {
  ByteReader in(packed);
  while (in.left() > 0) {
    std::string_view name = in.bytes(in.varint());
    std::string_view value = in.bytes(in.varint());
    if (in.failed()) return false;
    visit(name, value);
  }
  return true;
}

Labels unpack_labels(std::string_view packed);
// "" when there is no such label.
std::string_view label_value(std::string_view packed, std::string_view name);
std::string labels_as_json(std::string_view packed);

}  // namespace koord::store
