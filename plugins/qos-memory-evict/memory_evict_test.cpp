// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-memory-evict/memory_evict.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_samples.hpp"
#include "test/support/node_slo.hpp"

using namespace koord::memory_evict;
using koord::eviction::Candidate;
using koord::eviction::Demand;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using koord::test::FakeSamples;
using namespace std::chrono_literals;
namespace state = koord::state;

namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

Candidate pod(std::string name, std::int64_t used, std::int32_t priority = 5500) {
  Candidate pod;
  pod.name = std::move(name);
  pod.is_active = pod.is_enabled = pod.is_best_effort = true;
  pod.priority = pod.sub_priority = priority;
  pod.priority_class = KOORD_PRIORITY_BATCH;
  pod.memory.batch = kGiB;
  pod.used = used;
  return pod;
}

Situation situation(std::string feature, std::vector<Candidate> pods) {
  Situation situation;
  situation.features = {std::move(feature)};
  situation.slo.memory_evict_threshold_percent = 70;
  situation.slo.evict_enabled_priority_threshold = 5999;
  situation.capacity = 100 * kGiB;
  situation.pods = std::move(pods);
  return situation;
}

using Names = std::vector<std::string>;

Names names(const Demand& demand) {
  Names names;
  for (const auto& victim : demand.victims) names.push_back(victim.pod->name);
  return names;
}

}  // namespace

TEST_CASE(
    "BEMemoryEvict: a node at its threshold releases memory of best-effort pods until it is 2 % below the threshold") {
  const Situation node = situation("BEMemoryEvict", {pod("a", kGiB)});
  CHECK(decide(node, 75 * kGiB).demands.at(0).amount == 7 * kGiB);
  CHECK(decide(node, 70 * kGiB).demands.at(0).amount == 2 * kGiB);
  CHECK(decide(node, 70 * kGiB - 1).demands.empty());
  CHECK(name_of(decide(node, 75 * kGiB).demands[0].released) == "memory");
  CHECK(decide(node, 75 * kGiB).demands[0].reason == "the node uses 75.00 GiB of 100.00 GiB, 70 % or more");
}

TEST_CASE(
    "BEMemoryEvict: the lowest priority is evicted first, then the largest user, then unmeasured pods; pods that opted out are kept") {
  Candidate unmeasured = pod("unmeasured", 0), closed = pod("closed", 9 * kGiB), ended = pod("ended", 9 * kGiB),
            other = pod("other", 9 * kGiB);
  unmeasured.used.reset();
  closed.policy = koord::eviction::Policy(R"(["MemoryEvict"])");
  ended.is_active = false;
  other.is_best_effort = false;
  const Situation node = situation("BEMemoryEvict", {unmeasured, pod("small", kGiB), pod("large", 2 * kGiB),
                                                     pod("low", 1, 5000), closed, ended, other});
  const Decision decision = decide(node, 75 * kGiB);
  CHECK(names(decision.demands.at(0)) == Names{"low", "large", "small", "unmeasured"});
  CHECK(names(settle(decision.demands).at(0)) == Names{"low", "large", "small"});
}

TEST_CASE("BEMemoryEvict does not ask whether pods opted in, MemoryEvict does, and goes by priority") {
  Candidate closed = pod("closed", kGiB);
  closed.is_enabled = false;
  const std::vector<Candidate> pods = {closed, pod("high", kGiB, 6000), pod("open", kGiB)};
  CHECK(names(decide(situation("BEMemoryEvict", pods), 75 * kGiB).demands.at(0)) == Names{"closed", "open", "high"});
  CHECK(names(decide(situation("MemoryEvict", pods), 75 * kGiB).demands.at(0)) == Names{"open"});
}

TEST_CASE("MemoryEvict counts bytes: a pod of a GiB releases a GiB") {
  const Situation node = situation("MemoryEvict", {pod("a", kGiB), pod("b", kGiB)});
  const auto settled = settle(decide(node, 70 * kGiB).demands);
  REQUIRE(settled.size() == 1);
  CHECK(releases(*settled[0].victims[0].pod, settled[0].released) == kGiB);
}

TEST_CASE("MemoryAllocatableEvict: batch-memory above the node's amount is released") {
  Situation node = situation("MemoryAllocatableEvict", {pod("a", 0), pod("b", 0), pod("c", 0)});
  CHECK(decide(node, {}).unknown.at(0) ==
        "MemoryAllocatableEvict: the NodeSLO does not give memoryAllocatableEvictThresholdPercent");
  node.slo.memory_allocatable_evict_threshold_percent = 110;
  node.slo.memory_allocatable_evict_lower_percent = 100;
  CHECK(decide(node, {}).unknown.at(0) ==
        "MemoryAllocatableEvict: the NodeSLO does not give allocatableEvictPriorityThreshold");
  node.slo.allocatable_evict_priority_threshold = 5999;
  CHECK(decide(node, {}).unknown.at(0) ==
        "MemoryAllocatableEvict: the Node has no allocatable kubernetes.io/batch-memory");
  node.allocatable.batch = 2 * kGiB;
  CHECK(decide(node, {}).demands.at(0).amount == kGiB);
  CHECK(name_of(decide(node, {}).demands[0].released) == "kubernetes.io/batch-memory.request");
}

TEST_CASE("without a threshold, a priority, the node's memory or its usage nothing is decided, and that is reported") {
  Situation node = situation("MemoryEvict", {});
  CHECK(decide(node, {}).unknown.at(0) == "MemoryEvict: node_memory_usage is not measured (advisor-node-resource)");
  CHECK(decide(node, 101 * kGiB).unknown.at(0) ==
        "MemoryEvict: the node uses 101.00 GiB, more than its capacity of 100.00 GiB, so one of both is wrong");
  CHECK(decide(node, 101 * kGiB).demands.empty());
  node.capacity.reset();
  CHECK(decide(node, 1).unknown.at(0) == "MemoryEvict: the node's memory is not known");
  node.slo.memory_evict_threshold_percent.reset();
  CHECK(decide(node, 1).unknown.at(0) == "MemoryEvict: the NodeSLO does not give memoryEvictThresholdPercent");
  node.slo.evict_enabled_priority_threshold.reset();
  CHECK(decide(node, 1).unknown.at(0) == "MemoryEvict: the NodeSLO does not give evictEnabledPriorityThreshold");
}

TEST_CASE("a feature that an invalid value makes inactive decides nothing, but other features decide") {
  Situation node = situation("BEMemoryEvict", {pod("a", kGiB)});
  node.features = {"BEMemoryEvict", "MemoryEvict"};
  node.inactive = {{"MemoryEvict", "evictEnabledPriorityThreshold: found 0.5, expected an integer"}, {"CPUBurst", "x"}};
  const Decision decision = decide(node, 75 * kGiB);
  REQUIRE(decision.demands.size() == 1);
  CHECK(decision.demands[0].feature == "BEMemoryEvict");
  CHECK(decision.unknown.empty());
}

TEST_CASE("a later feature counts the amounts released for an earlier one") {
  Situation node = situation("BEMemoryEvict", {pod("a", 5 * kGiB), pod("b", 5 * kGiB)});
  node.features = {"MemoryEvict", "BEMemoryEvict"};
  const auto all = decide(node, 75 * kGiB).demands;
  REQUIRE(all.size() == 2);
  CHECK(all[0].feature == "BEMemoryEvict");
  const auto settled = settle(all);  // 7 GiB: both pods are evicted for the first demand
  REQUIRE(settled.size() == 1);
  CHECK(settled[0].feature == "BEMemoryEvict");
}

TEST_CASE("no invalid threshold of the NodeSLO evicts a pod, whatever the node uses") {
  for (
      const char* spec :
      {R"({"resourceUsedThresholdWithBE": {"enable": true, "memoryEvictThresholdPercent": 60, "memoryEvictLowerPercent": 65}})",
       R"({"resourceUsedThresholdWithBE": {"enable": true, "memoryEvictThresholdPercent": -1}})",
       R"({"resourceUsedThresholdWithBE": {"enable": true, "memoryEvictLowerPercent": 75}})"}) {
    CAPTURE(spec);
    FakeNode node;
    FakeHost host(node, R"({"gates": ["BEMemoryEvict", "MemoryEvict"]})");
    FakeSamples samples(host);
    state::Pod one;
    one.uid = one.name = "a";
    one.namespace_ = "batch";
    one.phase = state::Phase::running;
    one.labels = {{"koordinator.sh/qosClass", "BE"}};
    state::Node object;
    object.capacity = {{"memory", 100 * kGiB}};
    host.hub().publish({.node = object, .pods = std::vector{one}, .node_slo = koord::test::node_slo_of(spec)});
    FakeInstance strategy(host, koord_entry_v1());
    REQUIRE(strategy.init() == KOORD_OK);
    samples.add("pod_memory_usage", 3.0 * kGiB, host.hub().current()->pods[0].handle);
    samples.add("node_memory_usage", 99.0 * kGiB);
    REQUIRE(strategy.evaluate() == KOORD_OK);
    CHECK(host.context().take_evictions().empty());
  }
}

TEST_CASE("the plugin requests at once when memory is short, by the newest sample, and again after four seconds") {
  FakeNode node;
  FakeHost host(node, R"({"gates": ["BEMemoryEvict"]})");
  FakeSamples samples(host);
  state::Pod one;
  one.uid = one.name = "a";
  one.namespace_ = "batch";
  one.phase = state::Phase::running;
  one.labels = {{"koordinator.sh/qosClass", "BE"}};
  state::Node object;
  object.capacity = {{"memory", 100 * kGiB}};
  host.hub().publish(
      {.node = object,
       .pods = std::vector{one},
       .node_slo = R"({"resourceUsedThresholdWithBE": {"enable": true, "memoryEvictThresholdPercent": 70}})"});
  FakeInstance strategy(host, koord_entry_v1());
  REQUIRE(strategy.init() == KOORD_OK);
  samples.add("pod_memory_usage", 3.0 * kGiB, host.hub().current()->pods[0].handle);
  samples.add("node_memory_usage", 75.0 * kGiB);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  const auto asked = host.context().take_evictions();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].resource == "memory");
  CHECK(asked[0].amount == 7 * kGiB);
  host.clock().advance(3s);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(host.context().take_evictions().empty());
  host.clock().advance(1s);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(host.context().take_evictions().size() == 1);
  host.clock().advance(11s);  // no fresh samples any more
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(host.context().take_evictions().empty());
}
