// SPDX-License-Identifier: Apache-2.0
// Requests and answers of TokenReview (authentication.k8s.io/v1) and SubjectAccessReview (authorization.k8s.io/v1). The
// answers come from outside: an answer that is not understood neither authenticates nor allows. reviewer.hpp sends
// them. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/kube/client.hpp"
#include "core/kubeauth/identity.hpp"

namespace koord::kubeauth {

// A longer token is refused without a question to the API server.
inline constexpr std::size_t kMaxTokenBytes = 16u << 10;
// Limits of one identity; a longer list in an answer is an error.
inline constexpr std::size_t kMaxGroups = 1024;
inline constexpr std::size_t kMaxExtraValues = 256;

// `unavailable`: the API server did not say. The request must not be served, and may be repeated.
struct TokenDecision {
  enum class Outcome : std::uint8_t { authenticated, refused, unavailable };
  Outcome outcome = Outcome::unavailable;
  Identity identity = {};    // when authenticated
  std::string message = {};  // else why
  bool is_limited = false;   // unavailable because the API server is not asked so often
};

struct AccessDecision {
  enum class Outcome : std::uint8_t { allowed, denied, unavailable };
  Outcome outcome = Outcome::unavailable;
  std::string message = {};  // why; may be empty
  bool is_limited = false;   // as above
};

// The token is not empty, has no more than kMaxTokenBytes, and printable ASCII only.
bool may_be_token(std::string_view token);

// `audiences`: the token must be for one of them; empty: for the API server's own.
kube::Call token_review_call(std::string_view token, const std::vector<std::string>& audiences);
std::string access_review_body(const Identity& identity, const Access& access);
kube::Call access_review_call(std::string body);

// From an answer of status 2xx. An error: it is not a TokenReview or SubjectAccessReview that says yes or no.
Result<TokenDecision> parse_token_review(std::string_view text, const std::vector<std::string>& audiences);
Result<AccessDecision> parse_access_review(std::string_view text);

// From what the client of the API server got.
TokenDecision judge_token(const Result<kube::Reply>& reply, const std::vector<std::string>& audiences);
AccessDecision judge_access(const Result<kube::Reply>& reply);

}  // namespace koord::kubeauth
