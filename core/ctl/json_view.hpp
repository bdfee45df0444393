// SPDX-License-Identifier: Apache-2.0
// Reads the agent's JSON responses with functions like json_text(). A plugin may have written the texts, so their
// control characters are replaced by '?'. Includes Boost.JSON.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "core/base/result.hpp"
#include "core/base/utf8.hpp"
#include "core/http/client.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::ctl {

namespace json = boost::json;

// Replaces control characters in all texts of the value.
inline void replace_control_characters_in(json::value& value) {
  if (value.is_object()) {
    for (auto& member : value.get_object()) replace_control_characters_in(member.value());
  } else if (value.is_array()) {
    for (json::value& item : value.get_array()) replace_control_characters_in(item);
  } else if (value.is_string()) {
    std::string text(value.get_string());
    replace_control_characters(text);
    value = text;
  }
}

inline Result<json::object> parse_object(const std::string& text) {
  Result<json::object> object = read_json_object(text, http::kMaxClientBody);
  if (!object) return std::move(object).error().context("the agent's answer");
  for (auto& member : *object) replace_control_characters_in(member.value());
  return object;
}

}  // namespace koord::ctl
