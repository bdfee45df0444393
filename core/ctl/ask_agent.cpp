// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>

#include "core/ctl/command.hpp"
#include "core/http/client.hpp"
#include "core/json/reader.hpp"

namespace koord::ctl {
namespace {

// Returns the text of {"error": "…"}, or the whole answer if it has a different form.
std::string reason_of(const std::string& body) {
  if (const auto answer = read_json_object(body))
    if (const auto* text = answer->if_contains("error"); text && text->is_string())
      return std::string(text->as_string());
  return body;
}

// Returns the error with the socket named only once, because the client's error may already begin with it.
Error no_answer(const std::string& socket, Error error) {
  const std::string named = "'" + socket + "': ";
  if (error.text.starts_with(named)) error.text.erase(0, named.size());
  return std::move(error).context("the agent does not answer on '" + socket + "'");
}

Result<std::string> answer_of(const Invocation& invocation, Result<http::ClientResponse> response) {
  if (!response) return no_answer(invocation.socket, std::move(response).error());
  if (response->status != 200) return invalid(reason_of(response->body));
  return std::move(response->body);
}

// The agent's own time limit is 30 s.
constexpr Duration kPatience = std::chrono::seconds(40);

}  // namespace

Result<std::string> ask_agent(const Invocation& invocation, const std::string& target) {
  return answer_of(invocation, http::get(invocation.socket, target, {.cancel_fd = invocation.cancel_fd}));
}

Result<std::string> post_to_agent(const Invocation& invocation, const std::string& target) {
  return answer_of(invocation, http::post(invocation.socket, target, "", kPatience));
}

}  // namespace koord::ctl
