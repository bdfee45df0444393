// SPDX-License-Identifier: Apache-2.0
// Runs the plugin in a loop with a model of a node: which pods are evicted, and when evictions stop. With
// KOORD_PLOTS=1, writes plots to test/plots/ in the build directory.
#include <doctest/doctest.h>

#include "test/support/evicting_node.hpp"

using namespace koord::test;

namespace {

constexpr double kGiB = 1 << 30;

// A node of 16 GiB with ten batch pods of 1 GiB each, and other load. 70 % are 11.2 GiB, 68 % are 10.88 GiB.
struct Batch : EvictingNode {
  explicit Batch(Curve others)
      : EvictingNode(koord_entry_v1(), R"({"resourceUsedThresholdWithBE": {"enable": true,
      "memoryEvictThresholdPercent": 70}})") {
    for (int i = 0; i < 10; ++i)
      add("batch-" + std::to_string(i), {.anonymous = constant(kGiB)}, "kubernetes.io/batch-memory", 1 << 30);
    run_others({.anonymous = std::move(others)});
  }
};

}  // namespace

TEST_CASE("a node that is short of memory evicts enough to get below its lower threshold, and then nothing more") {
  Batch node(step(kGiB, 4 * kGiB, 60));
  node.run(3600);
  CHECK(node.evicted().size() == 4);  // the usage falls from 14 GiB to 10 GiB
  CHECK(node.evicted().back().first < 70);
  plot(node.recording(), "qos-memory-evict-usage", "others need three GiB more from 60 s on",
       {{"GiB", {"GiB"}}, {"pods", {"pods"}}});
  CHECK(summary(node.recording(), {"GiB", "pods"}, 12) == "GiB: 10.61 10 10 10 10 10 10 10 10 10 10 10; 10 to 14\n"
                                                          "pods: 7.2 6 6 6 6 6 6 6 6 6 6 6; 6 to 10\n");
}

TEST_CASE("a pod that is ending counts as released while the request is repeated") {
  Batch node(step(kGiB, 4 * kGiB, 60));
  node.run(85);
  CHECK(node.requests() > 3);
  CHECK(node.evicted().size() == 4);
}

TEST_CASE("if the usage grows further, further pods are evicted one by one") {
  Batch node([](double t) { return kGiB + t / 600 * kGiB; });
  node.run(3000);
  CHECK(node.evicted().size() >= 5);
  CHECK(node.evicted().size() <= 6);
  CHECK(highest(between(node.recording().of("GiB"), 0, 3000)) < 11.3);
}
