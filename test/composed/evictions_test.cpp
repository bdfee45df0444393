// SPDX-License-Identifier: Apache-2.0
// Strategies that evict, through the whole agent, which is interrupted in every way. One need evicts one pod, even over
// several sessions, and lost answers of the API server cause no further evictions. The inputs are objects and a node's
// numbers; the results are eviction requests at the API server.
#include <doctest/doctest.h>

#include <csignal>

#include "test/composed/interruption.hpp"
#include "test/e2e/crowded_node.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr auto kLong = 2min;

struct Row {
  const char *strategy, *feature, *slo;
  int memory_percent = 50;
  int best_effort_milli = 4000;
  double node_cores = 1;
};

const Row kMemory{.strategy = "qos-memory-evict",
                  .feature = "BEMemoryEvict",
                  .slo = R"("memoryEvictThresholdPercent": 75, "memoryEvictLowerPercent": 74)",
                  .memory_percent = 75};
const Row kCpu{.strategy = "qos-cpu-evict",
               .feature = "BECPUEvict",
               .slo = R"("cpuEvictBESatisfactionLowerPercent": 30, "cpuEvictBESatisfactionUpperPercent": 35)",
               .best_effort_milli = 500};

void set_need(CrowdedNode& node, const Row& row) {
  node.set_memory(row.memory_percent);
  node.limit_best_effort(row.best_effort_milli);
  node.set_slo(row.slo);
}

void interrupt(CrowdedNode& node, const Row& row, Interruption interruption) {
  switch (interruption) {
    case Interruption::sigkill:
      node.agent->kill();
      REQUIRE(node.start());
      return;
    case Interruption::sigterm:
    case Interruption::keep:  // an eviction leaves no value to keep or revert
      CHECK(node.agent->stop() == 0);
      REQUIRE(node.start());
      return;
    case Interruption::sighup:
      node.agent->process().signal(SIGHUP);
      return;
    case Interruption::reload:
      CHECK(node.agent->ctl({"plugin", "reload", row.strategy}).exit_status == 0);
      return;
  }
}

// Returns whether the strategy has seen the need again in this session, with new lists of pods.
bool sees_the_need(CrowdedNode& node, const Row& row) {
  const auto pending = [&] { return node.let_run(row.node_cores), node.counted(row.feature, "pending") >= 1; };
  if (!eventually(pending, kLong)) return false;
  node.wait_for_lists(2);
  return true;
}

void check_one_victim(const Row& row) {
  CrowdedNode node;
  set_need(node, row);
  node.configure(std::string(row.feature) + ": true", "enforce");
  REQUIRE(node.start());
  REQUIRE_MESSAGE(
      eventually([&] { return node.let_run(row.node_cores), node.counted(row.feature, "evicted") == 1; }, kLong),
      node.agent->log());
  CHECK(node.going() == std::vector<std::string>{"low"});
  node.set_terminating("low");  // it is Terminating until the end of the test
  for (const Interruption interruption : kInterruptions) {
    INFO("after " << name_of(interruption));
    interrupt(node, row, interruption);
    CHECK_MESSAGE(sees_the_need(node, row), node.agent->log());
    CHECK(node.asked() == 1);
  }
  CHECK(node.going() == std::vector<std::string>{"low"});
  CHECK(node.agent->stop() == 0);
}

}  // namespace

TEST_CASE("memory eviction: interrupted in any way, one need takes one pod") { check_one_victim(kMemory); }

TEST_CASE("CPU eviction: after any interruption, one need evicts one pod") { check_one_victim(kCpu); }

TEST_CASE("an agent killed between its request and the answer asks for no other pod") {
  CrowdedNode node;
  set_need(node, kMemory);
  node.cluster.fault("slow", R"({"verb": "create", "path": "/eviction", "bytes_per_second": 1})");
  node.configure("BEMemoryEvict: true", "enforce");
  REQUIRE(node.start());
  REQUIRE(eventually([&] { return node.asked() == 1; }, kLong));
  node.agent->kill();
  CHECK(node.going() == std::vector<std::string>{"low"});
  node.set_terminating("low");
  node.cluster.clear_faults();
  REQUIRE(node.start());
  CHECK(sees_the_need(node, kMemory));
  CHECK(node.asked() == 1);
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("an agent killed between its requests and their answers has no new budget") {
  std::vector<CrowdedPod> pods;
  for (char name = 'a'; name < 'a' + 8; ++name)
    pods.push_back({.name = std::string("batch-") + name,
                    .tier = "batch",
                    .priority = 5500,
                    .labels = R"("koordinator.sh/qosClass": "BE")",
                    .used_mib = 256});
  CrowdedNode node(pods);
  node.set_slo(kMemory.slo);
  node.set_memory(76);  // three pods above the threshold
  node.cluster.fault("mute", R"({"verb": "create", "path": "/eviction"})");
  node.configure("BEMemoryEvict: true", "enforce", "evict: {mostPods: 3}\n");
  REQUIRE(node.start());
  REQUIRE_MESSAGE(eventually([&] { return node.going().size() == 3; }, kLong), node.agent->log());
  // Returns whether the requests are on disk. `decisions` reads only records that are written.
  const auto recorded = [&] {
    const std::string records = node.ctl({"decisions", "--kind", "eviction", "--outcome", "asked", "-o", "json"});
    return records.find("batch-a") != std::string::npos && records.find("batch-b") != std::string::npos &&
           records.find("batch-c") != std::string::npos;
  };
  REQUIRE(eventually(recorded, kLong));
  node.agent->kill();
  node.set_memory(77);  // four pods above it
  REQUIRE(node.start());
  CHECK_MESSAGE(eventually([&] { return node.counted("BEMemoryEvict", "budget") >= 1; }, kLong), node.agent->log());
  node.wait_for_lists(3);
  CHECK(node.asked() == 3);
  CHECK(node.going().size() == 3);
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("an API server that evicts and never answers loses five pods at most, then the brake holds") {
  std::vector<CrowdedPod> pods;
  for (char name = 'a'; name < 'a' + 12; ++name)
    pods.push_back({.name = std::string("batch-") + name,
                    .tier = "batch",
                    .priority = 5500,
                    .labels = R"("koordinator.sh/qosClass": "BE")",
                    .used_mib = 1024});
  CrowdedNode node(pods);
  node.set_memory(75);
  node.set_slo(R"("memoryEvictThresholdPercent": 75, "memoryEvictLowerPercent": 60)");  // needs five pods of 1 GiB
  node.cluster.fault("mute", R"({"verb": "create", "kind": "Pod"})");
  // The agent never sees an evicted pod end, because the kubelet still lists each pod unchanged.
  node.configure("BEMemoryEvict: true", "enforce", "evict: {pendingPeriod: 10s}\n");
  REQUIRE(node.start());
  const auto brake = [&] { return find_metric(node.agent->metrics(), "koordetector_host_eviction_brake") == 1; };
  CHECK_MESSAGE(eventually(brake, 4min), node.agent->log());
  CHECK(node.asked() >= 1);
  CHECK(node.asked() <= 5);
  node.wait_for_lists(5);
  CHECK(node.asked() <= 5);
  CHECK(node.agent->stop() == 0);
}
