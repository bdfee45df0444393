// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>

#include "core/ctl/command.hpp"
#include "core/http/client.hpp"

namespace koord::ctl {
namespace {

// The text of {"error": "…"}, or the whole answer.
std::string reason_of(const std::string& body) {
  boost::system::error_code error;
  boost::json::value answer = boost::json::parse(body, error);
  if (!error && answer.is_object())
    if (const auto* text = answer.as_object().if_contains("error"); text && text->is_string())
      return std::string(text->as_string());
  return body;
}

}  // namespace

Result<std::string> ask_agent(const Invocation& invocation, const std::string& target) {
  Result<http::ClientResponse> response = http::get(invocation.socket, target);
  if (!response)
    return std::move(response).error().context("the agent does not answer on '" + invocation.socket + "'");
  if (response->status != 200) return invalid(reason_of(response->body));
  return std::move(response->body);
}

}  // namespace koord::ctl
