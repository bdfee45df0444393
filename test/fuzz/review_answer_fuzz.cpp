// SPDX-License-Identifier: Apache-2.0
// An API server's answers to TokenReview and SubjectAccessReview: none may authenticate or allow by accident.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/json/reader.hpp"
#include "core/kubeauth/review.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::kubeauth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TokenDecision token = judge_token(kube::Reply{200, std::string(text)}, {});
  const bool authenticated = token.outcome == TokenDecision::Outcome::authenticated;
  check(token.message.size() < 1000 && token.message.find('\n') == std::string::npos);
  check(!authenticated || (!token.identity.user.empty() && token.identity.groups.size() <= kMaxGroups));
  check(authenticated || token.identity == Identity());
  check(!authenticated || text.find("true") != std::string_view::npos);
  const AccessDecision access = judge_access(kube::Reply{200, std::string(text)});
  check(access.message.size() < 1000);
  check(access.outcome != AccessDecision::Outcome::allowed || text.find("true") != std::string_view::npos);
  // The request about the names in an answer must be JSON with any names.
  if (authenticated) check(read_json(access_review_body(token.identity, {.path = "/metrics"})).has_value());
  check(read_json(token_review_call(text, {std::string(text)}).body).has_value());
  check(judge_token(kube::Reply{403, std::string(text)}, {}).outcome == TokenDecision::Outcome::unavailable);
  check(judge_access(kube::Reply{500, std::string(text)}).outcome == AccessDecision::Outcome::unavailable);
  return 0;
}
