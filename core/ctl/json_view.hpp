// SPDX-License-Identifier: Apache-2.0
// Reads the agent's JSON answers without a crash on unexpected ones: members that are missing or of another type are
// empty. Includes Boost.JSON: for command files only.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/http/client.hpp"
#include "core/json/reader.hpp"

namespace koord::ctl {

namespace json = boost::json;

inline Result<json::object> parse_object(const std::string& text) {
  Result<json::object> object = read_json_object(text, http::kMaxClientBody);
  if (!object) return std::move(object).error().context("the agent's answer");
  return object;
}

inline const json::value* member(const json::value& value, std::string_view key) {
  return value.is_object() ? value.as_object().if_contains(key) : nullptr;
}

inline std::string text_of(const json::value& value, std::string_view key) {
  const json::value* found = member(value, key);
  return found && found->is_string() ? std::string(found->as_string()) : std::string();
}

inline std::optional<double> number_of(const json::value& value, std::string_view key) {
  const json::value* found = member(value, key);
  if (!found || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

inline bool flag_of(const json::value& value, std::string_view key) {
  const json::value* found = member(value, key);
  return found && found->is_bool() && found->as_bool();
}

inline const json::array& array_of(const json::value& value, std::string_view key) {
  static const json::array kEmpty;
  const json::value* found = member(value, key);
  return found && found->is_array() ? found->as_array() : kEmpty;
}

inline const json::value& object_of(const json::value& value, std::string_view key) {
  static const json::value kEmpty(json::object{});
  const json::value* found = member(value, key);
  return found && found->is_object() ? *found : kEmpty;
}

}  // namespace koord::ctl
