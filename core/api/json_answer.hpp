// SPDX-License-Identifier: Apache-2.0
// Helper functions of the data API. Includes Boost.JSON, so only .cpp files of core/api include it.
#pragma once

#include <boost/json.hpp>
#include <cmath>
#include <string_view>

#include "core/api/api.hpp"
#include "core/base/to_seconds.hpp"
#include "core/json/reader.hpp"

namespace koord::api {

inline http::Response json_answer(const boost::json::value& value) {
  return {.content_type = std::string(http::kJson), .body = boost::json::serialize(value) + "\n"};
}

inline http::Response json_error(unsigned status, std::string_view text) {
  http::Response response = json_answer({{"error", text}});
  response.status = status;
  return response;
}

// Returns the parsed JSON text; null for an empty or invalid text.
inline boost::json::value as_json(std::string_view text) {
  Result<boost::json::value> value = read_json(text);
  return value ? *std::move(value) : boost::json::value();
}

template <class Strings>
boost::json::array json_strings(const Strings& strings) {
  boost::json::array array;
  for (const auto& text : strings) array.emplace_back(std::string_view(text));
  return array;
}

// Returns an object from a map, or a list of pairs, of strings.
template <class Pairs>
boost::json::object json_map(const Pairs& pairs) {
  boost::json::object object;
  for (const auto& [key, value] : pairs) object[key] = value;
  return object;
}

// Returns Unix seconds of the wall clock, rounded to milliseconds.
inline double wall_seconds(const Clock& clock, Time t) {
  return std::round(static_cast<double>(clock.wall_label_ns(t)) / 1e6) / 1e3;
}

}  // namespace koord::api
