// SPDX-License-Identifier: Apache-2.0
// Every answer to an eviction that an API server, or a proxy before it, may give. With each answer at most
// evict.mostPods pods are evicted in a window, an attempt counts until it is known to have failed, and the record has
// the answer.
#include <set>

#include "node_of_twenty.hpp"

using namespace koord;
using namespace koord::evict;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr auto kUnanswered = decision::Outcome::unanswered, kRefused = decision::Outcome::refused,
               kGone = decision::Outcome::gone, kEvicted = decision::Outcome::evicted;

struct AnswerRow {
  const char* name;
  const char* fault;      // fault of the test cluster
  const char* arguments;  // arguments of the fault
  decision::Outcome outcome;
  const char* why;              // a part of the record's reason
  std::uint64_t most_pods = 2;  // evict.mostPods
};

constexpr AnswerRow kAnswerRows[] = {
    {"a proxy's page with 200", "answer", R"("body": "<html>sign in</html>", "headers": {"Content-Type": "text/html"})",
     kUnanswered, "<html>sign in</html> (expected an object of kind Status)"},
    {"the same after the pod was deleted", "answer", R"("body": "<html>", "done": true)", kUnanswered,
     "expected an object of kind Status"},
    {"201 while the pod stays", "answer", R"("code": 201, "body": "{\"kind\":\"Status\",\"status\":\"Success\"}")",
     kEvicted, ""},
    {"a Status of Failure with 200", "answer",
     R"("body": "{\"kind\":\"Status\",\"status\":\"Failure\"}", "done": true)", kUnanswered, "found 'Failure'"},
    {"an answer about another pod", "answer",
     R"("code": 201, "body": "{\"kind\":\"Status\",\"status\":\"Success\",\"details\":{\"name\":\"other\"}}", "done": true)",
     kUnanswered, "found one about 'other'"},
    {"404 for a pod that is there", "answer", R"("code": 404, "body": "{\"kind\":\"Status\",\"reason\":\"NotFound\"}")",
     kGone, "gone: 404 NotFound"},
    {"409", "answer", R"("code": 409, "body": "{\"kind\":\"Status\",\"reason\":\"Conflict\"}")", kRefused,
     "conflict: 409 Conflict"},
    {"307 to another host", "answer", R"("code": 307, "headers": {"Location": "https://elsewhere.example/"})", kRefused,
     "redirected: 307 (redirects are not followed"},
    {"401", "answer", R"("code": 401, "body": "{\"kind\":\"Status\",\"reason\":\"Unauthorized\"}")", kRefused,
     "unauthorized: 401 Unauthorized (expected credentials that the API server accepts)"},
    {"403", "answer", R"("code": 403, "body": "{\"kind\":\"Status\",\"reason\":\"Forbidden\"}")", kRefused,
     "forbidden: 403 Forbidden (expected the right to create pods/eviction)"},
    {"429 with Retry-After: 0", "answer", R"("code": 429, "headers": {"Retry-After": "0"})", kRefused, "busy: 429"},
    {"429 with Retry-After: -1", "answer", R"("code": 429, "headers": {"Retry-After": "-1"})", kRefused, "busy: 429"},
    {"429 with Retry-After: 10^18", "answer", R"("code": 429, "headers": {"Retry-After": "1000000000000000000"})",
     kRefused, "busy: 429", 1},
    {"429 with a date", "answer", R"("code": 429, "headers": {"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"})",
     kRefused, "busy: 429"},
    {"429 with garbage", "answer", R"("code": 429, "headers": {"Retry-After": "1e18 \t;%n"})", kRefused, "busy: 429"},
    {"500 of two budgets", "answer",
     R"("code": 500, "body": "{\"kind\":\"Status\",\"message\":\"This pod has more than one PodDisruptionBudget\"}")",
     kRefused, "more than one PodDisruptionBudget"},
    {"500 of a storage that has deleted", "answer",
     R"("code": 500, "body": "{\"kind\":\"Status\",\"message\":\"etcdserver: request timed out\"}", "done": true)",
     kUnanswered, "etcdserver: request timed out"},
    {"503 in the server's words", "answer",
     R"("code": 503, "body": "{\"kind\":\"Status\",\"reason\":\"ServiceUnavailable\"}")", kRefused,
     "busy: 503 ServiceUnavailable"},
    {"503 of a proxy after its server has deleted", "answer",
     R"("code": 503, "body": "upstream connect error", "done": true)", kUnanswered, "upstream connect error"},
    {"520 of a proxy", "answer", R"("code": 520, "done": true)", kUnanswered, "unanswered: 520"},
    {"a body without an end", "endless", "", kUnanswered, "more than 1048576 bytes"},
    {"a body that is cut", "cut", R"("after_bytes": 5)", kUnanswered, "the answer broke off"},
    {"no answer to a request that was done", "answer", R"("close": true, "done": true)", kUnanswered, "unanswered: "},
};

bool has_record_of(const NodeOfTwenty& node, const AnswerRow& row) {
  return std::any_of(node.decisions.begin(), node.decisions.end(), [&](const decision::Decision& one) {
    return one.outcome == row.outcome && one.problem.find(row.why) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("with every answer of the API server, the limit of pods in a window holds, and the record has the answer") {
  for (const AnswerRow& row : kAnswerRows) {
    INFO(std::string(row.name));
    NodeOfTwenty node(config::EvictionTier::api, row.most_pods);
    const std::string arguments = *row.arguments == 0 ? "" : std::string(", ") + row.arguments;
    node.cluster.fault(row.fault, R"({"verb": "create", "path": "/eviction")" + arguments + "}");
    std::set<std::string> asked;
    for (int tens = 0; tens < 29; ++tens) {
      node.request(5 * kGiB);  // the need stays after each eviction
      for (const Order& order : node.orders) asked.insert(order.pod.uid);
      node.answer();
      node.manual.advance(10s);
      node.publish();
    }
    CHECK(has_record_of(node, row));
    CHECK(node.going().size() <= row.most_pods);
    if (row.outcome == kUnanswered || row.outcome == kEvicted) CHECK(asked.size() <= row.most_pods);
    if (row.outcome == kRefused || row.outcome == kGone) CHECK(node.going().empty());
  }
}

TEST_CASE("an answer about the agent's access is reported once, and no pod is asked for during five minutes") {
  for (const char* code : {"401", "403", "307"}) {
    INFO(std::string(code));
    NodeOfTwenty node(config::EvictionTier::api, 2);
    node.cluster.fault("answer", R"({"verb": "create", "path": "/eviction", "code": )" + std::string(code) + "}");
    CHECK(node.round(5 * kGiB) == 2);
    CHECK(node.reported == std::vector<std::string>{"pod-1"});
    CHECK(node.count(decision::Outcome::refused) >= 2);
    CHECK(node.count(decision::Outcome::evicted) == 0);
    CHECK(node.evictions.view().going == 0);
    for (int tens = 0; tens < 29; ++tens) {
      node.manual.advance(10s);
      node.publish();
      CHECK(node.round(5 * kGiB) == 0);
    }
    node.manual.advance(5min);
    node.publish();
    CHECK(node.round(5 * kGiB) == 2);
    CHECK(node.reported == std::vector<std::string>{"pod-1"});
    node.cluster.clear_faults();
    node.cluster.fault("graceful_deletion", R"({"on":true})");
    node.manual.advance(10min);
    node.publish();
    CHECK(node.round(5 * kGiB) == 2);
    CHECK(node.reported.size() == 3);
    CHECK(node.going().size() == 2);
  }
}
