// SPDX-License-Identifier: Apache-2.0
// Reads the agent's JSON answers, with json_text() and its siblings. Includes Boost.JSON: for command files only.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "core/base/result.hpp"
#include "core/http/client.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::ctl {

namespace json = boost::json;

inline Result<json::object> parse_object(const std::string& text) {
  Result<json::object> object = read_json_object(text, http::kMaxClientBody);
  if (!object) return std::move(object).error().context("the agent's answer");
  return object;
}

}  // namespace koord::ctl
