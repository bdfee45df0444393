// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-evict/cpu_evict.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_samples.hpp"

using namespace koord::cpu_evict;
using koord::eviction::Candidate;
using koord::eviction::Demand;
using koord::eviction::Policy;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;
namespace slo = koord::slo;
namespace state = koord::state;

namespace {

constexpr Satisfaction kSatisfaction = {30, 40, 90};

std::int64_t released(double request, double limit) { return release({limit, request, limit}, kSatisfaction); }

Candidate batch_pod(std::string name, std::int64_t request, std::int64_t used) {
  Candidate pod;
  pod.name = std::move(name);
  pod.is_active = pod.is_enabled = pod.is_best_effort = true;
  pod.priority = pod.sub_priority = 5500;
  pod.priority_class = KOORD_PRIORITY_BATCH;
  pod.cpu.batch = request;
  pod.used = used;
  return pod;
}

Situation of_best_effort(std::vector<Candidate> pods) {
  Situation situation;
  situation.features = {"BECPUEvict"};
  situation.slo.cpu_evict_be_satisfaction_lower_percent = 30;
  situation.slo.cpu_evict_be_satisfaction_upper_percent = 40;
  situation.pods = std::move(pods);
  return situation;
}

Situation of_usage(std::vector<Candidate> pods) {
  Situation situation;
  situation.features = {"CPUEvict"};
  situation.slo.cpu_evict_threshold_percent = 80;
  situation.slo.evict_enabled_priority_threshold = 5999;
  situation.capacity = 100'000;
  situation.pods = std::move(pods);
  return situation;
}

NodeUsage node(double milli) { return {{milli, milli}, {}}; }
NodeUsage best_effort(BestEffort average, BestEffort newest) { return {{}, {average, newest}}; }

std::vector<std::string> names(const Demand& demand) {
  std::vector<std::string> names;
  for (const auto& victim : demand.victims) names.push_back(victim.pod->name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "if best-effort pods get less than the lower percentage of their request, they release enough to give the rest the upper one") {
  CHECK(released(50'000, 10'000) == 10'000);
  CHECK(released(50'000, 14'000) == 6000);
  CHECK(released(50'000, 15'000) == 5000);  // 30 % is not below the lower percentage
  CHECK(released(50'000, 15'001) == 0);
  CHECK(released(40'000, 20'000) == 0);
  CHECK(released(50'000, 1) == 20'000 - 1);
  CHECK(released(0, 10'000) == 0);
}

TEST_CASE("best-effort pods that do not use their CPU do not lack it, unless they have less than one CPU") {
  CHECK(release({8999, 50'000, 10'000}, kSatisfaction) == 0);
  CHECK(release({9000, 50'000, 10'000}, kSatisfaction) == 10'000);
  CHECK(release({0, 50'000, 999}, kSatisfaction) == 19'001);
  CHECK(release({0, 50'000, 0}, kSatisfaction) == 0);
  CHECK(release({0, 50'000, -1}, kSatisfaction) == 0);
}

TEST_CASE("BECPUEvict: the demand is the smaller one of average and newest values") {
  const Situation situation = of_best_effort({batch_pod("a", 50'000, 10'000)});
  const auto amount = [&](double average_limit, double newest_limit) {
    const Decision decision =
        decide(situation, best_effort({average_limit, 50'000, average_limit}, {newest_limit, 50'000, newest_limit}));
    return decision.demands.empty() ? 0 : decision.demands[0].amount;
  };
  CHECK(amount(10'000, 14'000) == 6000);
  CHECK(amount(13'000, 11'000) == 7000);
  CHECK(amount(10'000, 20'000) == 0);
  CHECK(amount(20'000, 10'000) == 0);
}

TEST_CASE("BECPUEvict: the lowest priority is evicted first, then the largest usage relative to the request") {
  Candidate low = batch_pod("low", 1000, 1), half = batch_pod("half", 2000, 1000), full = batch_pod("full", 1000, 900);
  Candidate unmeasured = batch_pod("unmeasured", 1000, 0), ended = batch_pod("ended", 1000, 900),
            other = batch_pod("other", 1000, 900);
  low.priority = 5000;
  unmeasured.used.reset();
  ended.is_active = false;
  other.is_best_effort = false;
  const BestEffort short_of_cpu = {10'000, 50'000, 10'000};
  const Situation situation = of_best_effort({half, unmeasured, full, low, ended, other});
  const Decision decision = decide(situation, best_effort(short_of_cpu, short_of_cpu));
  REQUIRE(decision.demands.size() == 1);
  CHECK(names(decision.demands[0]) == Names{"low", "full", "half", "unmeasured"});
  CHECK(name_of(decision.demands[0].released) == "kubernetes.io/batch-cpu.request");
  CHECK(decision.demands[0].reason ==
        "best-effort pods request 50.00 cores and get 20 % of it, not 30 %, and use what they get");
}

TEST_CASE("BECPUEvict by allocatable: the Node's amount is used, 0 is little and unknown gives no decision") {
  Situation situation = of_best_effort({batch_pod("a", 50'000, 10'000)});
  situation.slo.cpu_evict_policy = slo::CpuEvictPolicy::allocatable;
  const NodeUsage node_usage = best_effort({40'000, 50'000, 50'000}, {40'000, 50'000, 50'000});
  situation.allocatable.batch = 0;
  CHECK(decide(situation, node_usage).demands.at(0).amount == 20'000 - 1);
  situation.allocatable.batch = 14'000;
  CHECK(decide(situation, node_usage).demands.at(0).amount == 6000);
  situation.allocatable.batch.reset();
  CHECK(decide(situation, node_usage).demands.empty());
  CHECK(decide(situation, node_usage).unknown ==
        Names{"BECPUEvict: the Node has no allocatable kubernetes.io/batch-cpu"});
}

TEST_CASE("BECPUEvict without both percentages, or with inconsistent ones, does not run and reports it") {
  Situation situation = of_best_effort({});
  const auto problem = [&] { return decide(situation, best_effort({1, 1, 1}, {1, 1, 1})).unknown.at(0); };
  situation.slo.cpu_evict_be_satisfaction_upper_percent.reset();
  CHECK(problem() == "BECPUEvict: the NodeSLO does not give cpuEvictBESatisfactionUpperPercent");
  situation.slo.cpu_evict_be_satisfaction_upper_percent = 29;
  CHECK(problem() == "BECPUEvict: cpuEvictBESatisfactionUpperPercent is 29, expected 30 to 99");
  situation.slo.cpu_evict_be_satisfaction_lower_percent = 61;
  CHECK(problem() == "BECPUEvict: cpuEvictBESatisfactionLowerPercent is 61, expected 1 to 60");
  situation.slo.cpu_evict_be_satisfaction_lower_percent.reset();
  CHECK(problem() == "BECPUEvict: the NodeSLO does not give cpuEvictBESatisfactionLowerPercent");
}

TEST_CASE(
    "CPUEvict: a node at its threshold releases down to the lower one, by the smaller of average and newest value") {
  const Situation situation = of_usage({batch_pod("a", 1000, 2000)});
  CHECK(decide(situation, node(81'000)).demands.at(0).amount == 3000);
  CHECK(decide(situation, node(79'999)).demands.empty());
  CHECK(decide(situation, {{90'000, 81'000}, {}}).demands.at(0).amount == 3000);
  CHECK(decide(situation, {{90'000, 70'000}, {}}).demands.empty());
}

TEST_CASE("CPUEvict: only enabled pods with at most the priority are evicted, and among equal ones the largest user") {
  Candidate a = batch_pod("a", 0, 100), b = batch_pod("b", 0, 200), high = batch_pod("high", 0, 900),
            closed = batch_pod("closed", 0, 900);
  high.priority = 6000;
  closed.is_enabled = false;
  const Situation situation = of_usage({a, b, high, closed});
  const Decision decision = decide(situation, node(81'000));
  REQUIRE(decision.demands.size() == 1);
  CHECK(names(decision.demands[0]) == Names{"b", "a"});
  CHECK(name_of(decision.demands[0].released) == "cpu");
}

TEST_CASE("CPUEvict without a threshold, a priority, the node's CPUs or their usage does not run and reports it") {
  Situation situation = of_usage({});
  CHECK(decide(situation, {}).unknown.at(0) ==
        "CPUEvict: node_cpu_usage is not measured for long enough (advisor-node-resource)");
  situation.capacity.reset();
  CHECK(decide(situation, node(1)).unknown.at(0) == "CPUEvict: the node's CPUs are not known");
  situation.slo.evict_enabled_priority_threshold.reset();
  CHECK(decide(situation, node(1)).unknown.at(0) ==
        "CPUEvict: the NodeSLO does not give evictEnabledPriorityThreshold");
  situation.slo.cpu_evict_threshold_percent.reset();
  CHECK(decide(situation, node(1)).unknown.at(0) == "CPUEvict: the NodeSLO does not give cpuEvictThresholdPercent");
}

TEST_CASE(
    "CPUAllocatableEvict: batch-cpu above the node's amount is released; without its percentages it does not run") {
  Situation situation;
  situation.features = {"CPUAllocatableEvict"};
  situation.slo.cpu_allocatable_evict_threshold_percent = 80;
  situation.slo.cpu_allocatable_evict_lower_percent = 70;
  situation.allocatable.batch = 100'000;
  situation.pods = {batch_pod("a", 45'000, 0), batch_pod("b", 40'000, 0)};
  CHECK(decide(situation, {}).unknown.at(0) ==
        "CPUAllocatableEvict: the NodeSLO does not give allocatableEvictPriorityThreshold");
  situation.slo.allocatable_evict_priority_threshold = 5999;
  CHECK(decide(situation, {}).demands.at(0).amount == 15'000);
  situation.slo.cpu_allocatable_evict_lower_percent.reset();
  CHECK(decide(situation, {}).unknown.at(0) ==
        "CPUAllocatableEvict: the NodeSLO does not give cpuAllocatableEvictLowerPercent");
}

TEST_CASE("features with closed gates decide nothing, and others decide in koordlet's order") {
  Situation situation = of_usage({batch_pod("a", 1000, 2000)});
  CHECK(decide(situation, node(81'000)).unknown.empty());
  situation.features = {"CPUEvict", "BECPUEvict"};
  situation.slo.cpu_evict_be_satisfaction_lower_percent = 30;
  situation.slo.cpu_evict_be_satisfaction_upper_percent = 40;
  NodeUsage node_usage = node(81'000);
  node_usage.best_effort = {BestEffort{10'000, 50'000, 10'000}, BestEffort{10'000, 50'000, 10'000}};
  const Decision decision = decide(situation, node_usage);
  REQUIRE(decision.demands.size() == 2);
  CHECK(decision.demands[0].feature == "BECPUEvict");
  CHECK(decision.demands[1].feature == "CPUEvict");
}

namespace {

constexpr const char* kSlo = R"({"resourceUsedThresholdWithBE": {"enable": true, "cpuEvictThresholdPercent": 80,
  "evictEnabledPriorityThreshold": 5999}})";

state::Pod enabled_pod(std::string name) {
  state::Pod pod;
  pod.uid = pod.name = std::move(name);
  pod.namespace_ = "batch";
  pod.priority_class = state::PriorityClass::batch;
  pod.phase = state::Phase::running;
  pod.labels = {{"koordinator.sh/eviction-enabled", "true"}};
  return pod;
}

state::Node ten_cpus() {
  state::Node node;
  node.name = "n1";
  node.capacity = {{"cpu", 10'000}};
  return node;
}

// Simulates ten seconds of a node with ten CPUs and the given usage, and of its pod.
void use(FakeHost& host, koord::test::FakeSamples& samples, double cores, int seconds = 10) {
  for (int i = 0; i < seconds; ++i) {
    host.clock().advance(1s);
    samples.add("node_cpu_usage", cores);
    const auto now = host.hub().current();
    for (const state::Pod& pod : now->pods) samples.add("pod_cpu_usage", 2.5, pod.handle);
  }
}

}  // namespace

TEST_CASE("the plugin requests evictions with the feature, the amount and all candidates, and then pauses") {
  FakeNode node;
  FakeHost host(node, R"({"gates": ["CPUEvict"]})");
  koord::test::FakeSamples samples(host);
  host.hub().publish({.node = ten_cpus(), .pods = std::vector{enabled_pod("a"), enabled_pod("b")}, .node_slo = kSlo});
  FakeInstance strategy(host, koord_entry_v1());
  REQUIRE(strategy.init() == KOORD_OK);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  use(host, samples, 9, 20);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  const auto asked = host.context().take_evictions();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].resource == "cpu");
  CHECK(asked[0].amount == 1200);
  CHECK(asked[0].pods.size() == 2);
  CHECK(asked[0].inputs.at(0) == std::pair<std::string, std::string>("feature", "CPUEvict"));
  CHECK(asked[0].reason == "the node uses 9.00 cores of 10.00 cores, 80 % or more");
  use(host, samples, 9, 19);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(host.context().take_evictions().empty());
  use(host, samples, 9, 1);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(host.context().take_evictions().size() == 1);
}

TEST_CASE("nothing is requested if the NodeSLO is off or missing, no gate is on, or nothing is measured") {
  struct Row {
    const char *config, *slo;
    double cores;
  };
  for (const Row& row :
       {Row{R"({"gates": []})", kSlo, 9}, Row{R"({"gates": ["BECPUEvict"]})", kSlo, 9}, Row{"{}", "", 9},
        Row{"{}", R"({"resourceUsedThresholdWithBE": {"enable": false, "cpuEvictThresholdPercent": 80}})", 9},
        Row{"{}", kSlo, 0}}) {
    CAPTURE(row.config);
    FakeNode node;
    FakeHost host(node, row.config);
    koord::test::FakeSamples samples(host);
    host.hub().publish({.node = ten_cpus(), .pods = std::vector{enabled_pod("a")}, .node_slo = row.slo});
    FakeInstance strategy(host, koord_entry_v1());
    REQUIRE(strategy.init() == KOORD_OK);
    REQUIRE(strategy.evaluate() == KOORD_OK);
    host.clock().advance(20s);
    if (row.cores > 0) use(host, samples, row.cores);
    CHECK(strategy.evaluate() == KOORD_OK);
    CHECK(host.context().take_evictions().empty());
  }
}
