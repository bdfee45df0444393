// SPDX-License-Identifier: Apache-2.0
#include "core/kube/eviction.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::kube;
using Outcome = EvictionAnswer::Outcome;

namespace {

constexpr const char* kBoth =
    R"({"kind":"APIGroup","name":"policy","versions":[{"groupVersion":"policy/v1","version":"v1"},{"groupVersion":"policy/v1beta1","version":"v1beta1"}],"preferredVersion":{"groupVersion":"policy/v1","version":"v1"}})";

std::string resources(const std::string& eviction) {
  return R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","kind":"Pod","verbs":["get"]},)" +
         eviction + R"({"name":"pods/log","kind":"Pod","verbs":["get"]}]})";
}

std::string eviction(const std::string& group_and_version) {
  return R"({"name":"pods/eviction","singularName":"","namespaced":true,)" + group_and_version +
         R"("kind":"Eviction","verbs":["create"]},)";
}

std::string version(std::string_view group, const std::string& resource_list) {
  auto found = find_eviction_version(group, resource_list);
  return !found ? found.error().message() : found->value_or("none");
}

EvictionAnswer answer(unsigned status, std::string body = {}, std::optional<Duration> retry_after = {}) {
  return classify_eviction({status, std::move(body), retry_after});
}

}  // namespace

TEST_CASE("the version of evictions is the one that pods/eviction names, whatever else the group has") {
  CHECK(version(kBoth, resources(eviction(R"("group":"policy","version":"v1",)"))) == "policy/v1");
  CHECK(version(kBoth, resources(eviction(R"("group":"policy","version":"v1beta1",)"))) == "policy/v1beta1");
}

TEST_CASE("where pods/eviction names no version, or one unheard of, it is the best one of the group") {
  CHECK(version(kBoth, resources(eviction(""))) == "policy/v1");
  CHECK(version(kBoth, resources(eviction(R"("group":"policy","version":"v7",)"))) == "policy/v1");
  CHECK(version(R"({"versions":[{"groupVersion":"policy/v1beta1"}]})", resources(eviction(""))) == "policy/v1beta1");
  CHECK(version("{}", resources(eviction(""))) == "none");
}

TEST_CASE("a server without pods/eviction evicts nothing") {
  CHECK(version(kBoth, resources("")) == "none");
  CHECK(version("{}", "{}") == "none");
}

TEST_CASE("a list that is not one of versions is an error") {
  CHECK(version(kBoth, "<html>").starts_with("not the JSON"));
  CHECK(version("[]", resources(eviction(""))).starts_with("not the JSON"));
}

TEST_CASE("a request to evict is for one pod by its UID") {
  const Call call = eviction_call("policy/v1", {.name_space = "shop", .name = "web-0", .uid = "u-1"});
  CHECK(call.verb == Verb::create);
  CHECK(call.target == "/api/v1/namespaces/shop/pods/web-0/eviction");
  CHECK(call.body == R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web-0","namespace":"shop"},)"
                     R"("deleteOptions":{"preconditions":{"uid":"u-1"}}})");
}

TEST_CASE("a request to evict may set the grace period, and may be a dry run") {
  const Call call = eviction_call("policy/v1beta1",
                                  {.name_space = "a", .name = "b", .uid = "c", .grace_seconds = 0, .dry_run = true});
  CHECK(call.target.ends_with("/eviction?dryRun=All"));
  CHECK(
      call.body.ends_with(R"("deleteOptions":{"preconditions":{"uid":"c"},"gracePeriodSeconds":0,"dryRun":["All"]}})"));
}

TEST_CASE("a pod is evicted when 200 or 201 brings a Status of Success") {
  CHECK(answer(200, R"({"kind":"Status","status":"Success"})").outcome == Outcome::evicted);
  CHECK(answer(201, R"({"kind":"Status","status":"Success"})").outcome == Outcome::evicted);
  CHECK(answer(201, R"({"kind":"Status","status":"Success","details":{"name":"web-0"}})").outcome == Outcome::evicted);
}

TEST_CASE("any other answer of 2xx leaves open whether the pod goes, and says what is missing") {
  const auto message_of = [](const std::string& body) {
    const EvictionAnswer found = classify_eviction({201, body, {}}, "web-0");
    CHECK(found.outcome == Outcome::unanswered);
    return found.message;
  };
  CHECK(message_of("") == "201 (expected an object of kind Status)");
  CHECK(message_of("<html>sign in</html>") == "201: <html>sign in</html> (expected an object of kind Status)");
  CHECK(message_of(R"({"kind":"Pod","metadata":{"name":"web-0"}})").ends_with("(expected an object of kind Status)"));
  CHECK(message_of(R"({"kind":"Status"})") == "201 (expected status 'Success', found '')");
  CHECK(message_of(R"({"kind":"Status","status":"Failure","reason":"Conflict","code":409})") ==
        "201 Conflict (expected status 'Success', found 'Failure')");
  CHECK(message_of(R"({"kind":"Status","status":"Success","details":{"name":"web-1"}})") ==
        "201 (expected an answer about pod 'web-0', found one about 'web-1')");
  CHECK(message_of(R"({"kind":"Status","status":")" + std::string(1 << 20, 'x') + "\"}").size() < 200);
}

TEST_CASE("429 is a budget's when it names one, else the server is busy") {
  auto budget =
      answer(429, R"({"kind":"Status","message":"Cannot evict pod as it would violate the pod's disruption budget.",
    "reason":"TooManyRequests","details":{"causes":[{"reason":"DisruptionBudget","message":"The disruption budget web needs 2 healthy pods and has 2 currently"}],"retryAfterSeconds":10}})");
  CHECK(budget.outcome == Outcome::over_budget);
  CHECK(budget.message == "429 TooManyRequests: The disruption budget web needs 2 healthy pods and has 2 currently");
  CHECK(budget.retry_after == std::chrono::seconds(10));
  auto busy = answer(429, "", std::chrono::seconds(3));
  CHECK(busy.outcome == Outcome::busy);
  CHECK(busy.retry_after == std::chrono::seconds(3));
}

TEST_CASE("a pod that is gone, or was created again under its name, is gone") {
  CHECK(answer(404, R"({"kind":"Status","reason":"NotFound"})").outcome == Outcome::gone);
  CHECK(
      answer(
          409,
          R"({"kind":"Status","reason":"Conflict","message":"Operation cannot be fulfilled: Precondition failed: UID in precondition: a, UID in object meta: b"})")
          .outcome == Outcome::gone);
}

TEST_CASE("answers about the agent's access name what the server expects, those about a pod do not") {
  const auto unauthorized = answer(401, R"({"kind":"Status","reason":"Unauthorized","message":"Unauthorized"})");
  CHECK(unauthorized.outcome == Outcome::unauthorized);
  CHECK(unauthorized.message == "401 Unauthorized: Unauthorized (expected credentials that the API server accepts)");
  const auto forbidden = answer(403);
  CHECK(forbidden.outcome == Outcome::forbidden);
  CHECK(forbidden.message == "403 (expected the right to create pods/eviction)");
  CHECK(classify_eviction({403, "", {}}, {}, "get /api/v1").message == "403 (expected the right to get /api/v1)");
  for (unsigned status : {300u, 301u, 302u, 304u, 307u, 308u, 399u}) {
    const auto redirected = answer(status);
    CHECK(redirected.outcome == Outcome::redirected);
    CHECK(redirected.message ==
          std::to_string(status) + " (redirects are not followed, expected the address of the API server)");
  }
  for (Outcome outcome : {Outcome::unauthorized, Outcome::forbidden, Outcome::redirected, Outcome::unsupported})
    CHECK(concerns_agent(outcome));
  for (Outcome outcome : {Outcome::evicted, Outcome::over_budget, Outcome::busy, Outcome::gone, Outcome::conflict,
                          Outcome::unanswered, Outcome::refused})
    CHECK_FALSE(concerns_agent(outcome));
}

TEST_CASE("a 403 of admission or of a namespace that ends is about the pod, one for lack of a right about the agent") {
  const auto outcome = [](const std::string& message, unsigned status = 403) {
    return answer(status, R"({"kind":"Status","reason":"Forbidden","message":")" + message + "\"}").outcome;
  };
  const std::string terminating =
      R"("details":{"causes":[{"reason":"NamespaceTerminating","message":"namespace shop is being terminated"}]})";
  CHECK(answer(403, R"({"kind":"Status","reason":"Forbidden","message":"pods is forbidden",)" + terminating + "}")
            .outcome == Outcome::refused);
  CHECK(outcome("unable to create new content in namespace shop because it is being terminated") == Outcome::refused);
  for (unsigned chosen_by_webhook : {400u, 401u, 429u, 500u})
    CHECK(outcome(R"(admission webhook \"guard.example.com\" denied the request: no)", chosen_by_webhook) ==
          Outcome::refused);
  CHECK(outcome(R"(admission webhook \"guard.example.com\" denied the request: batch/web is protected)") ==
        Outcome::refused);
  CHECK(outcome("pods \\\"web\\\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no") ==
        Outcome::refused);
  CHECK(
      outcome(
          R"(pods \"web\" is forbidden: User \"agent\" cannot create resource \"pods/eviction\" in API group \"\")") ==
      Outcome::forbidden);
}

TEST_CASE("every other refusal has its name") {
  CHECK(answer(409, R"({"kind":"Status","reason":"Conflict","message":"the object has been modified"})").outcome ==
        Outcome::conflict);
  CHECK(answer(500, R"({"kind":"Status","message":"This pod has more than one PodDisruptionBudget"})").outcome ==
        Outcome::refused);
  CHECK(answer(503, R"({"kind":"Status","reason":"ServiceUnavailable"})").outcome == Outcome::busy);
  CHECK(answer(400).outcome == Outcome::refused);
  CHECK(name_of(Outcome::over_budget) == "over budget");
  // A proxy or the server itself gave up, but the eviction may still be executed.
  CHECK(answer(500, R"({"kind":"Status","message":"etcdserver: request timed out"})").outcome == Outcome::unanswered);
  CHECK(answer(500).outcome == Outcome::unanswered);
  CHECK(answer(502).outcome == Outcome::unanswered);
  CHECK(answer(503, "upstream connect error or disconnect/reset before headers").outcome == Outcome::unanswered);
  CHECK(answer(520).outcome == Outcome::unanswered);
  CHECK(answer(504, R"({"kind":"Status","reason":"Timeout"})").outcome == Outcome::unanswered);
}
