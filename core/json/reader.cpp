// SPDX-License-Identifier: Apache-2.0
#include "core/json/reader.hpp"

#include <boost/json/parser.hpp>
#include <string>
#include <utility>

namespace koord {
namespace json = boost::json;

Result<json::value> read_json(std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes) return invalid("found " + std::to_string(text.size()) + " bytes, expected at most " + std::to_string(max_bytes));
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::parser parser({}, options);
  json::error_code error;
  const std::size_t end = parser.write_some(text.data(), text.size(), error);
  if (!error && end < text.size()) error = json::error::extra_data;
  if (error == json::error::too_deep) return invalid("not JSON: nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
  if (error) return invalid("not JSON: " + error.message() + " at byte " + std::to_string(end));
  return parser.release();
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
