// SPDX-License-Identifier: Apache-2.0
// The one reader of JSON texts (RFC 8259, with Boost.JSON), safe with any bytes. If two members have one name, the last
// counts, as in Go. core/json/field.hpp walks the result. [any thread]
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string_view>

#include "core/base/result.hpp"

namespace koord {

inline constexpr std::size_t kMaxJsonDepth = 64;  // nested lists and mappings
inline constexpr std::size_t kMaxJsonBytes = 16u << 20;

// The error says why: "not JSON: syntax error at byte 7".
Result<boost::json::value> read_json(std::string_view text, std::size_t max_bytes = kMaxJsonBytes);

// Fails for a text with another outermost value than a mapping.
Result<boost::json::object> read_json_object(std::string_view text, std::size_t max_bytes = kMaxJsonBytes);

// "a mapping", "a list", "text", "a number", "a boolean", "nothing": the words of all errors about a value's type.
std::string_view json_type_name(const boost::json::value& value);

inline std::string_view text_view(const boost::json::string& text) { return {text.data(), text.size()}; }

}  // namespace koord
