// SPDX-License-Identifier: Apache-2.0
#include "core/kubeauth/review.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::kubeauth;

namespace {

std::string token_answer(const std::string& status) {
  return R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","status":)" + status + "}";
}

std::string access_answer(const std::string& status) {
  return R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":)" + status + "}";
}

TokenDecision token_of(const std::string& status, const std::vector<std::string>& audiences = {}) {
  return judge_token(kube::Reply{201, token_answer(status)}, audiences);
}

AccessDecision access_of(const std::string& status) { return judge_access(kube::Reply{201, access_answer(status)}); }

using Token = TokenDecision::Outcome;
using Allow = AccessDecision::Outcome;

}  // namespace

TEST_CASE("a token's user comes with uid, groups and extra values") {
  const TokenDecision decision = token_of(
      R"({"authenticated":true,"user":{"username":"system:serviceaccount:a:b","uid":"u","groups":["g","system:authenticated"],
          "extra":{"authentication.kubernetes.io/node-name":["node-1"]}}})");
  REQUIRE_MESSAGE(decision.outcome == Token::authenticated, decision.message);
  CHECK(decision.identity.user == "system:serviceaccount:a:b");
  CHECK(decision.identity.uid == "u");
  CHECK(decision.identity.in_group("system:authenticated"));
  CHECK(decision.identity.node_name() == "node-1");
}

TEST_CASE("two node names in one token are none") {
  const TokenDecision decision = token_of(
      R"({"authenticated":true,"user":{"username":"a","extra":{"authentication.kubernetes.io/node-name":["n","m"]}}})");
  REQUIRE(decision.outcome == Token::authenticated);
  CHECK_FALSE(decision.identity.node_name().has_value());
}

TEST_CASE("a token that is not authenticated is refused, with the API server's reason") {
  CHECK(token_of("{}").outcome == Token::refused);
  CHECK(token_of(R"({"authenticated":false})").outcome == Token::refused);
  const TokenDecision expired = token_of(R"({"authenticated":false,"error":"token has\nexpired"})");
  CHECK(expired.outcome == Token::refused);
  CHECK(expired.message == "token has expired");
  // A user in the answer is ignored if the answer is a refusal.
  CHECK(token_of(R"({"user":{"username":"admin"}})").outcome == Token::refused);
}

TEST_CASE("a token for another audience is refused, and so is one if the server names no audiences") {
  const std::string user = R"("user":{"username":"a"})";
  CHECK(token_of(R"({"authenticated":true,"audiences":["x","y"],)" + user + "}", {"y"}).outcome ==
        Token::authenticated);
  CHECK(token_of(R"({"authenticated":true,"audiences":["x"],)" + user + "}", {"y"}).outcome == Token::refused);
  CHECK(token_of(R"({"authenticated":true,)" + user + "}", {"y"}).outcome == Token::refused);
}

TEST_CASE("an answer about a token that is not understood neither authenticates nor refuses") {
  for (const char* status : {R"({"authenticated":"true","user":{"username":"a"}})", R"({"authenticated":true})",
                             R"({"authenticated":true,"user":{"username":""}})",
                             R"({"authenticated":true,"user":{"username":"a","groups":"g"}})",
                             R"({"authenticated":1,"user":{"username":"a"}})", "null", "7", "[]"}) {
    CAPTURE(status);
    CHECK(token_of(status).outcome == Token::unavailable);
  }
  for (const char* text : {"", "yes", "{}", R"({"kind":"Status","status":"Success"})",
                           R"({"kind":"TokenReview","apiVersion":"v1","status":{"authenticated":true}})"}) {
    CAPTURE(text);
    CHECK(judge_token(kube::Reply{200, text}, {}).outcome == Token::unavailable);
  }
}

TEST_CASE("an identity with more groups or values than the bound is not taken") {
  std::string groups;
  for (std::size_t i = 0; i <= kMaxGroups; ++i) groups += (i == 0 ? "\"g" : ",\"g") + std::to_string(i) + "\"";
  CHECK(token_of(R"({"authenticated":true,"user":{"username":"a","groups":[)" + groups + "]}}").outcome ==
        Token::unavailable);
}

TEST_CASE("access is allowed by the literal true alone, and a denial wins") {
  CHECK(access_of(R"({"allowed":true})").outcome == Allow::allowed);
  CHECK(access_of(R"({"allowed":true,"denied":true})").outcome == Allow::denied);
  CHECK(access_of(R"({"allowed":false,"reason":"no rule"})").outcome == Allow::denied);
  CHECK(access_of(R"({"allowed":false,"reason":"no rule"})").message == "no rule");
  for (const char* status : {"{}", R"({"allowed":"true"})", R"({"allowed":1})", R"({"allowed":null})", "null", "true",
                             R"({"allowed":true,"denied":"no"})"}) {
    CAPTURE(status);
    CHECK(access_of(status).outcome == Allow::unavailable);
  }
}

TEST_CASE("an answer of another kind or status never allows") {
  CHECK(judge_access(
            kube::Reply{201, R"({"kind":"Status","apiVersion":"authorization.k8s.io/v1","status":{"allowed":true}})"})
            .outcome == Allow::unavailable);
  for (const unsigned status : {301u, 400u, 401u, 403u, 404u, 409u, 429u, 500u, 503u}) {
    CAPTURE(status);
    CHECK(judge_access(kube::Reply{status, access_answer(R"({"allowed":true})")}).outcome == Allow::unavailable);
    CHECK(judge_token(kube::Reply{status, token_answer(R"({"authenticated":true,"user":{"username":"a"}})")}, {})
              .outcome == Token::unavailable);
  }
  CHECK(judge_access(invalid("connection refused")).outcome == Allow::unavailable);
}

TEST_CASE("a missing right of our own is named") {
  const std::string message = judge_token(kube::Reply{403, ""}, {}).message;
  CHECK_MESSAGE(message.find("create tokenreviews") != std::string::npos, message);
}

TEST_CASE("a review's request holds the token, the user and what is asked") {
  const kube::Call token = token_review_call("abc", {"x"});
  CHECK(token.target == "/apis/authentication.k8s.io/v1/tokenreviews");
  CHECK(token.body ==
        R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"abc","audiences":["x"]}})");
  const Identity user{.user = "a", .uid = "u", .groups = {"g"}, .extra = {{"k", {"v"}}}};
  CHECK(
      access_review_body(user, {.path = "/metrics"}) ==
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"a","uid":"u","groups":["g"],)"
      R"("extra":{"k":["v"]},"nonResourceAttributes":{"path":"/metrics","verb":"get"}}})");
  CHECK(
      access_review_body({.user = "a"}, {.verb = "update",
                                         .group = "metrics.koordetector.sh",
                                         .version = "v1alpha1",
                                         .resource = "nodemetrics",
                                         .subresource = "status",
                                         .name = "n"}) ==
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"a","resourceAttributes":)"
      R"({"verb":"update","group":"metrics.koordetector.sh","version":"v1alpha1","resource":"nodemetrics",)"
      R"("subresource":"status","name":"n"}}})");
}

TEST_CASE("a text that cannot be a token causes no question") {
  CHECK(may_be_token("eyJhbGciOi.J9._-"));
  CHECK_FALSE(may_be_token(""));
  CHECK_FALSE(may_be_token("a b"));
  CHECK_FALSE(may_be_token("a\nb"));
  CHECK_FALSE(may_be_token("\xc3\xa9"));
  CHECK_FALSE(may_be_token(std::string(kMaxTokenBytes + 1, 'a')));
}
