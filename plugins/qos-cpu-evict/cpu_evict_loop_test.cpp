// SPDX-License-Identifier: Apache-2.0
// Runs the plugin in a loop with a model of a node: which pods are evicted, and when evictions stop. With
// KOORD_PLOTS=1, writes plots to test/plots/ in the build directory.
#include <doctest/doctest.h>

#include "test/support/evicting_node.hpp"

using namespace koord::test;

namespace {

constexpr const char* kByUsage = R"({"resourceUsedThresholdWithBE": {"enable": true, "cpuEvictThresholdPercent": 80,
  "cpuEvictLowerPercent": 70, "evictEnabledPriorityThreshold": 5999}})";
constexpr const char* kBySatisfaction =
    R"({"resourceUsedThresholdWithBE": {"enable": true, "cpuEvictBESatisfactionLowerPercent": 50,
  "cpuEvictBESatisfactionUpperPercent": 60}})";

// A node of 16 CPUs with ten batch pods that need a core each, and other load.
struct Batch : EvictingNode {
  Batch(const char* node_slo, Curve others) : EvictingNode(koord_entry_v1(), node_slo) {
    for (int i = 0; i < 10; ++i)
      add("batch-" + std::to_string(i), {.cpu = constant(1)}, "kubernetes.io/batch-cpu", 1000);
    run_others({.cpu = std::move(others)});
  }
};

}  // namespace

TEST_CASE("a node that is short of CPU evicts enough to get below its lower threshold, and then nothing more") {
  Batch node(kByUsage, step(2, 7, 120));  // from 120 s on, 17 of 16 cores are needed
  node.run(3600);
  CHECK(node.evicted().size() == 6);  // six pods of 0.9 cores reduce 16 to below 11.2
  CHECK(node.evicted().front().first > 120);
  CHECK(node.evicted().back().first < 180);
  CHECK(node.plant().of("").cpu_cores < 16 * 0.7 + 0.1);
  plot(node.recording(), "qos-cpu-evict-usage", "others need five cores more from 120 s on",
       {{"cores", {"cores"}}, {"pods", {"pods"}}});
  CHECK(summary(node.recording(), {"cores", "pods"}, 12) == "cores: 12.28 11 11 11 11 11 11 11 11 11 11 11; 11 to 16\n"
                                                            "pods: 7.37 4 4 4 4 4 4 4 4 4 4 4; 4 to 10\n");
}

TEST_CASE("a peak of a few seconds causes no eviction") {
  Batch node(kByUsage, step(1, 7, 120, 123));
  node.run(600);
  CHECK(node.evicted().empty());
}

TEST_CASE("no pod is evicted in the first 20 seconds") {
  Batch node(kByUsage, constant(7));
  node.run(19);
  CHECK(node.requests() == 0);
  node.run(5);
  CHECK(node.requests() == 1);
}

TEST_CASE(
    "while victims still end no further pod is evicted for the same need, though it is requested again after the pause") {
  Batch node(kByUsage, constant(7));
  node.run(25);
  const std::size_t at_once = node.evicted().size();
  CHECK(at_once > 0);
  node.run(20);
  CHECK(node.requests() == 2);
  CHECK(node.evicted().size() == at_once);
}

TEST_CASE("best-effort pods that get too little of their request are evicted until the rest gets enough") {
  Batch node(kBySatisfaction, constant(2));
  // From 60 s on, suppression leaves the batch pods three of the ten requested cores.
  node.measure = [&node](FakeSamples& samples, koord::test::Plant& plant) {
    const auto pods = static_cast<double>(node.pods());
    const double limit = plant.now() < 60 ? 10'000 : 3000;
    samples.add("node_be", limit, KOORD_NO_SUBJECT, {{"be_resource", "cpu"}, {"be_allocation", "real-limit"}});
    samples.add("node_be", pods * 1000, KOORD_NO_SUBJECT, {{"be_resource", "cpu"}, {"be_allocation", "request"}});
    samples.add("node_be", std::min(limit, pods * 1000), KOORD_NO_SUBJECT,
                {{"be_resource", "cpu"}, {"be_allocation", "usage"}});
  };
  node.run(3600);
  CHECK(node.evicted().size() == 5);  // the rest gets three of five cores, the upper 60 %
  CHECK(node.evicted().front().first > 60);
}
