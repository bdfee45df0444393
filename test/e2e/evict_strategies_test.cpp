// SPDX-License-Identifier: Apache-2.0
// qos-cpu-evict and qos-memory-evict in a whole agent: from the node's numbers to the evicted pods of the API server.
#include <doctest/doctest.h>

#include "crowded_node.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

using Names = std::vector<std::string>;

constexpr const char* kUses24 = "the node uses 24.00 GiB of 32.00 GiB";
constexpr const char* kMemory75 = R"("memoryEvictThresholdPercent": 75, "memoryEvictLowerPercent": 74)";

// Inputs for which a feature evicts one pod.
struct Row {
  const char *feature, *slo, *allocatable, *victim, *reason;
  int memory_percent = 50;
  int best_effort_milli = 4000;
  double node_cores = 1;
};

void expect_one_eviction(const Row& row) {
  INFO("feature: " << row.feature << ", victim: " << row.victim);
  CrowdedNode node;
  node.set_memory(row.memory_percent);
  node.limit_best_effort(row.best_effort_milli);
  node.set_allocatable(row.allocatable);
  node.set_slo(row.slo);
  node.configure(std::string(row.feature) + ": true", "enforce");
  REQUIRE(node.start());
  const auto evicted = [&] {
    node.let_run(row.node_cores);
    return node.counted(row.feature, "evicted") == 1;
  };
  CHECK_MESSAGE(eventually(evicted, 60s), node.agent->log());
  CHECK(node.going() == Names{row.victim});
  CHECK(eventually(
      [&] { return node.has_event(row.victim, "evictPodSuccess", std::string(row.feature) + ": " + row.reason); },
      60s));
  // The pod stays Terminating, and the strategy reports the need each second.
  node.set_terminating(row.victim);
  CHECK(eventually([&] { return node.let_run(row.node_cores), node.counted(row.feature, "pending") == 1; }, 60s));
  CHECK(node.asked() == 1);
  const std::string why = node.ctl({"why", "shop/" + std::string(row.victim)});
  CHECK_MESSAGE(has(why, row.reason), why);
  CHECK(find_metric(node.agent->metrics(), "koordlet_pod_eviction", {"reason=\"evicted\""}) == 1);
  CHECK(node.agent->stop() == 0);
}

}  // namespace

TEST_CASE(
    "BEMemoryEvict: on a node short of memory the best-effort pod of the lowest priority that allows it is evicted") {
  expect_one_eviction({"BEMemoryEvict", kMemory75, "{}", "low", kUses24, 75});
}

TEST_CASE("MemoryEvict: on a node short of memory a pod is evicted that opted in, up to the priority") {
  const std::string slo = std::string(kMemory75) + R"(, "evictEnabledPriorityThreshold": 5999)";
  expect_one_eviction({"MemoryEvict", slo.c_str(), "{}", "low", kUses24, 75});
}

TEST_CASE("MemoryAllocatableEvict: more batch-memory is requested than exists, so a pod of that class is evicted") {
  expect_one_eviction({"MemoryAllocatableEvict",
                       R"("memoryAllocatableEvictThresholdPercent": 110, "memoryAllocatableEvictLowerPercent": 100,
                          "allocatableEvictPriorityThreshold": 5999)",
                       R"({"kubernetes.io/batch-memory": "5Gi"})", "low",
                       "pods up to priority 5999 request 6.00 GiB of kubernetes.io/batch-memory"});
}

TEST_CASE("BECPUEvict: best-effort pods get too little of their requests, so one of them is evicted") {
  expect_one_eviction({"BECPUEvict",
                       R"("cpuEvictBESatisfactionLowerPercent": 30, "cpuEvictBESatisfactionUpperPercent": 35)", "{}",
                       "low", "best-effort pods request 6.00 cores and get 8 % of it", 50, 500});
}

TEST_CASE(
    "CPUAllocatableEvict: more mid-cpu is requested than exists, so the mid pod is evicted and no best-effort one") {
  expect_one_eviction({"CPUAllocatableEvict",
                       R"("cpuAllocatableEvictThresholdPercent": 110, "cpuAllocatableEvictLowerPercent": 100,
                          "allocatableEvictPriorityThreshold": 7999)",
                       R"({"kubernetes.io/mid-cpu": "1000", "kubernetes.io/batch-cpu": "16000"})", "mid",
                       "pods up to priority 7999 request 2.00 cores of kubernetes.io/mid-cpu"});
}

TEST_CASE("CPUEvict: the node uses more of its CPUs than the threshold, so a pod that uses them is evicted") {
  expect_one_eviction(
      {"CPUEvict",
       R"("cpuEvictThresholdPercent": 80, "cpuEvictLowerPercent": 79, "evictEnabledPriorityThreshold": 5999)", "{}",
       "low", "the node uses ", 50, 4000, 15});
}

TEST_CASE(
    "in shadow mode a short node evicts no pod, and koordctl shows the pods that would be evicted and the reasons") {
  CrowdedNode node;
  node.set_memory(75);
  node.set_slo(kMemory75);
  node.configure("BEMemoryEvict: true", "shadow");
  REQUIRE(node.start());
  REQUIRE(eventually([&] { return node.counted("BEMemoryEvict", "shadow") == 1; }, 60s));
  node.wait_for_lists(3);
  CHECK(node.asked() == 0);
  CHECK(node.going().empty());
  const std::string decisions = node.ctl({"decisions", "--kind", "eviction", "--outcome", "shadow"});
  CHECK_MESSAGE((has(decisions, "shop/low") && has(decisions, "the node uses 24.00 GiB of 32.00 GiB, 75 % or more")),
                decisions);
  CHECK(has(node.ctl({"why", "low"}), "Considered for eviction:"));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("a disruption budget is respected: its pod stays, the reason is reported, and the next pod is evicted") {
  CrowdedNode node;
  node.put_budget("low", 0);
  node.set_memory(75);
  node.set_slo(kMemory75);
  node.configure("BEMemoryEvict: true", "enforce");
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.counted("BEMemoryEvict", "evicted") == 1; }, 60s));
  CHECK(node.going() == Names{"high"});
  CHECK(node.counted("BEMemoryEvict", "refused") == 1);
  CHECK(eventually(
      [&] { return node.has_event("low", "evictPodFail", "The disruption budget keep-low has no disruption left"); },
      60s));
  CHECK(has(node.ctl({"why", "low"}),
            "refused: over budget: 429 TooManyRequests: The disruption budget keep-low has no disruption left"));
  CHECK(node.asked() == 2);
  CHECK(node.agent->stop() == 0);
}

TEST_CASE(
    "fault 19: a wrong figure that picks every pod trips the brake: no pod is evicted, and all requests are answered so") {
  std::vector<CrowdedPod> pods;
  for (char name = 'a'; name < 'a' + 12; ++name)
    pods.push_back({.name = std::string("batch-") + name,
                    .tier = "batch",
                    .priority = 5500,
                    .labels = R"("koordinator.sh/qosClass": "BE")",
                    .used_mib = 256});
  CrowdedNode node(pods);
  node.set_memory(99);
  node.set_slo(kMemory75);
  node.configure("BEMemoryEvict: true", "enforce");
  REQUIRE(node.start());
  REQUIRE(eventually([&] { return node.counted("BEMemoryEvict", "brake") == 12; }, 60s));
  node.wait_for_lists(3);
  CHECK(node.asked() == 0);
  CHECK(node.going().empty());
  CHECK(find_metric(node.agent->metrics(), "koordetector_host_eviction_brake") == 1);
  const std::string capabilities = node.ctl({"capabilities"});
  CHECK_MESSAGE(
      has(capabilities,
          "12 of the node's 12 pods were picked for eviction within evict.window: no pod is evicted before 20"),
      capabilities);
  CHECK(has(
      node.ctl({"mode"}),
      "Evictions, whatever the mode: 12 of the node's 12 pods were picked for eviction within evict.window: no pod is evicted before 20"));
  CHECK(has(node.ctl({"events"}),
            "12 of the node's 12 pods were picked for eviction within evict.window: no pod is evicted for 30 min"));
  CHECK(eventually([&] { return node.has_event("test-node", "EvictionBrake", "12 of the node's 12 pods"); }, 60s));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE(
    "fault 18: with a server that answers 429 no pod is evicted or killed, also in the tier runtime, and Retry-After is honoured") {
  CrowdedNode node;
  node.cluster.fault("too_many_requests", R"({"verb": "create", "kind": "Pod", "retry_after": 60})");
  node.set_memory(75);
  node.set_slo(kMemory75);
  node.configure("BEMemoryEvict: true", "enforce", "evict: {tier: runtime}\n");
  REQUIRE(node.start());
  REQUIRE(eventually([&] { return node.counted("BEMemoryEvict", "refused") == 1; }, 60s));
  node.wait_for_lists(3);
  CHECK(node.asked() == 1);
  CHECK(node.going().empty());
  CHECK(node.counted("BEMemoryEvict", "killed") == 0);
  const std::string capabilities = node.ctl({"capabilities"});
  CHECK_MESSAGE(has(capabilities, "busy: "), capabilities);
  CHECK(node.agent->stop() == 0);
}
