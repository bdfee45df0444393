// SPDX-License-Identifier: Apache-2.0
#include "core/json/reader.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parser.hpp>
#include <cmath>
#include <string>
#include <utility>

namespace koord {
namespace json = boost::json;

namespace {

// Returns whether all numbers are finite. Boost.JSON reads 1e999 as infinity, which cannot be written as JSON.
bool is_finite(const json::value& value) {
  if (const double* number = value.if_double()) return std::isfinite(*number);
  if (const json::array* items = value.if_array()) return std::all_of(items->begin(), items->end(), is_finite);
  const json::object* members = value.if_object();
  return !members ||
         std::all_of(members->begin(), members->end(), [](const auto& member) { return is_finite(member.value()); });
}

}  // namespace

Result<json::value> read_json(std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes)
    return invalid("found " + std::to_string(text.size()) + " bytes, expected at most " + std::to_string(max_bytes));
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::parser parser({}, options);
  json::error_code error;
  const std::size_t end = parser.write_some(text.data(), text.size(), error);
  if (!error && end < text.size()) error = json::error::extra_data;
  if (error == json::error::too_deep)
    return invalid("not JSON: nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
  if (error) return invalid("not JSON: " + error.message() + " at byte " + std::to_string(end));
  json::value value = parser.release();
  if (!is_finite(value)) return invalid("found a number above 1.8e308, expected one that a double can hold");
  return value;
}

Result<json::object> read_json_object(std::string_view text, std::size_t max_bytes) {
  json::value value = TRY(read_json(text, max_bytes));
  if (!value.is_object()) return invalid("expected a mapping, found " + std::string(json_type_name(value)));
  return std::move(value.get_object());
}

std::string_view json_type_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "nothing";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "text";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "a mapping";
  }
  return "?";
}

}  // namespace koord
