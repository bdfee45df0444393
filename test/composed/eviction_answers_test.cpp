// SPDX-License-Identifier: Apache-2.0
// Memory eviction through the whole agent, with invalid objects and with answers of the API server that do not match
// its action. test/core/evict/eviction_answers_test.cpp tests each answer alone. Here the inputs are a need, a NodeSLO
// and a kubelet; the results are deleted pods, decision records and the agent's readiness. Evictions of an earlier
// agent count, even if the wall clock was changed since.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "test/e2e/crowded_node.hpp"
#include "test/support/child_process.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr auto kLong = 2min;
constexpr const char* kFeature = "BEMemoryEvict";

// Eight best-effort pods of 1 GiB on a node that must evict five of them.
std::vector<CrowdedPod> eight_pods() {
  std::vector<CrowdedPod> pods;
  for (char name = 'a'; name < 'a' + 8; ++name)
    pods.push_back({.name = std::string("batch-") + name,
                    .tier = "batch",
                    .priority = 5500,
                    .labels = R"("koordinator.sh/qosClass": "BE")"});
  return pods;
}

struct Row {
  const char* name;
  const char* fault;
  const char* result;  // the word in metrics and records
  const char* why;     // a part of the records' reason
};

constexpr Row kAnswers[] = {
    {"a proxy's page", R"("body": "<html>sign in</html>", "done": true)", "unanswered",
     "expected an object of kind Status"},
    {"500 of a storage that has deleted",
     R"("code": 500, "body": "{\"kind\":\"Status\",\"message\":\"etcdserver: request timed out\"}", "done": true)",
     "unanswered", "etcdserver: request timed out"},
    {"no answer", R"("close": true, "done": true)", "unanswered", "unanswered: "},
    {"404 for pods that are there", R"("code": 404)", "gone", "gone: 404"},
    {"401", R"("code": 401)", "refused", "unauthorized: 401 (expected credentials that the API server accepts)"},
    {"a redirect", R"("code": 307, "headers": {"Location": "https://elsewhere.example/"})", "refused",
     "redirected: 307"},
};

void need_five_pods(CrowdedNode& node) {
  node.set_memory(75);
  node.set_slo(R"("memoryEvictThresholdPercent": 75, "memoryEvictLowerPercent": 60)");
}

bool is_counted(CrowdedNode& node, const char* result) {
  return eventually([&] { return node.counted(kFeature, result) >= 1; }, kLong);
}

bool has_record(const CrowdedNode& node, const char* part) {
  return eventually(
      [&] {
        return node.ctl({"decisions", "--kind", "eviction", "-o", "json"}).find(part) != std::string::npos;
      },
      kLong);
}

}  // namespace

TEST_CASE(
    "answers that hide the result: at most evict.mostPods pods go, records have the answers, the agent is ready") {
  CrowdedNode node(eight_pods());
  need_five_pods(node);
  for (const Row& row : kAnswers) {
    INFO(std::string(row.name));
    node.put_back();
    node.cluster.clear_fault("answer");
    node.cluster.fault("answer", R"({"verb": "create", "path": "/eviction", )" + std::string(row.fault) + "}");
    node.configure(std::string(kFeature) + ": true", "enforce", "evict: {mostPods: 2}\n");
    REQUIRE(node.start());
    CHECK_MESSAGE(is_counted(node, row.result), node.agent->log());
    node.wait_for_lists(4);
    CHECK(node.going().size() <= 2);
    CHECK(has_record(node, row.why));
    CHECK(node.agent->status_of("/readyz") == 200);
    CHECK(node.agent->stop() == 0);
  }
}

TEST_CASE("pods that were replaced after the decision by others of the same names stay, and the record says so") {
  CrowdedNode node(eight_pods());
  need_five_pods(node);
  node.put_back("-recreated");  // the kubelet still lists the earlier pods
  node.configure(std::string(kFeature) + ": true", "enforce");
  REQUIRE(node.start());
  CHECK_MESSAGE(is_counted(node, "gone"), node.agent->log());
  node.wait_for_lists(3);
  CHECK(node.asked() >= 1);
  CHECK(node.going().empty());
  CHECK(has_record(node, "UID in precondition: uid-batch-"));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE(
    "a NodeSLO with hostile figures of memory eviction evicts no pod, and the figures are named until they are right") {
  CrowdedNode node(eight_pods());
  node.set_memory(72);  // the default of the threshold is 70
  node.set_slo(R"("memoryEvictThresholdPercent": 75)");
  node.configure(std::string(kFeature) + ": true", "enforce");
  REQUIRE(node.start());
  constexpr std::string_view kNamed = R"("inactive":"BEMemoryEvict, MemoryEvict")";
  for (const char* figures : {"-1", "101", "\"12\"", "9223372036854775808", "[70]",
                              R"(60, "memoryEvictLowerPercent": 65)", R"(60, "memoryEvictLowerPercent": -1)"}) {
    INFO(figures);
    node.set_slo(R"("memoryEvictThresholdPercent": )" + std::string(figures));
    const auto is_named = [&] { return node.agent->get("/api/v1/slo").find(kNamed) != std::string::npos; };
    CHECK_MESSAGE(eventually(is_named), node.agent->get("/api/v1/slo"));
    node.wait_for_lists(2);
    CHECK(node.asked() == 0);
    node.set_slo(R"("memoryEvictThresholdPercent": 75)");
    CHECK(eventually([&] { return !is_named(); }));
  }
  node.set_slo(R"("memoryEvictThresholdPercent": 71)");
  CHECK_MESSAGE(is_counted(node, "evicted"), node.agent->log());
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("a Node with less capacity than is used evicts no pod, and the log has the number") {
  CrowdedNode node(eight_pods());
  need_five_pods(node);
  node.set_allocatable(R"({"cpu": "16", "memory": "1Gi"})");
  node.configure(std::string(kFeature) + ": true", "enforce");
  REQUIRE(node.start());
  const auto is_named = [&] {
    return node.agent->log().find("more than its capacity of 1.00 GiB") != std::string::npos;
  };
  CHECK_MESSAGE(eventually(is_named, kLong), node.agent->log());
  node.wait_for_lists(2);
  CHECK(node.asked() == 0);
  node.set_allocatable(R"({"cpu": "16", "memory": "32Gi"})");
  CHECK_MESSAGE(is_counted(node, "evicted"), node.agent->log());
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("a wall clock that was changed by an hour before a restart gives no new eviction budget") {
  CrowdedNode node(eight_pods());
  need_five_pods(node);
  node.configure(std::string(kFeature) + ": true", "enforce", "evict: {mostPods: 2}\n");
  REQUIRE(node.start());
  REQUIRE_MESSAGE(is_counted(node, "budget"), node.agent->log());
  CHECK(node.going().size() == 2);
  REQUIRE(has_record(node, "evicted"));
  node.agent->kill();
  // Makes the records an hour older, as if the wall clock had been set forward by an hour.
  const std::string script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
                             "db.execute('UPDATE decision SET wall_ns = wall_ns - 3600000000000'); db.commit()";
  REQUIRE(run_to_end({"python3", "-c", script, node.agent->folder() / "qos/decisions.db"}).exit_status == 0);
  REQUIRE(node.start());
  CHECK_MESSAGE(is_counted(node, "budget"), node.agent->log());
  node.wait_for_lists(3);
  CHECK(node.asked() == 2);
  CHECK(node.going().size() == 2);
  CHECK(node.agent->stop() == 0);
}
