// SPDX-License-Identifier: Apache-2.0
// Small pieces that the files of the data API share. Includes Boost.JSON: for api_*.cpp only.
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

// Text that is JSON already; null for none.
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

// An object from a map, or a list of pairs, of strings.
template <class Pairs>
boost::json::object json_map(const Pairs& pairs) {
  boost::json::object object;
  for (const auto& [key, value] : pairs) object[key] = value;
  return object;
}

// Unix seconds of the wall clock, to the millisecond.
inline double wall_seconds(const Clock& clock, Time t) {
  return std::round(static_cast<double>(clock.wall_label_ns(t)) / 1e6) / 1e3;
}

}  // namespace koord::api
