// SPDX-License-Identifier: Apache-2.0
// check_schema: whether a third party's JSON Schema may be compiled and applied in this process: of bounded size, with
// references that stay inside and come to an end, and with patterns that are matched in a bounded time. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>

#include "core/base/result.hpp"

namespace koord::load {

inline constexpr std::size_t kMaxSchemaBytes = 64u << 10;

// The longest text for a schema with patterns: a longer text is matched by recursion, and the stack is bounded.
inline constexpr std::size_t kMaxMatchedBytes = 4096;

struct SchemaFacts {
  bool has_patterns = false;
};
// The error names the JSON pointer of what is wrong.
Result<SchemaFacts> check_schema(const boost::json::value& schema);

// Whether a text or key in this value is too long to be matched.
Result<void> check_matched_texts(const boost::json::value& config);

}  // namespace koord::load
