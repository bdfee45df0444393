// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/eviction/rules.hpp"

#include <doctest/doctest.h>

#include "plugins/shared/eviction/allocatable_feature.hpp"

using namespace koord::eviction;

namespace {

constexpr ThresholdNames kNames = {"upperPercent", "lowerPercent"};

Candidate batch_pod(std::string name, std::int64_t milli) {
  Candidate pod;
  pod.name = std::move(name);
  pod.is_active = pod.is_enabled = true;
  pod.priority = 5500;
  pod.priority_class = KOORD_PRIORITY_BATCH;
  pod.cpu.batch = milli;
  return pod;
}

Candidate mid_pod(std::string name, std::int64_t milli) {
  Candidate pod = batch_pod(std::move(name), 0);
  pod.priority = 7500;
  pod.priority_class = KOORD_PRIORITY_MID;
  pod.cpu = {.native = 0, .mid = milli, .batch = 0};
  return pod;
}

std::vector<Demand> demands(const std::vector<Candidate>& pods, const Allocatable& allocatable,
                            std::int64_t most_priority = 7999) {
  std::vector<std::string> unknown;
  return promise_demands("CPUAllocatableEvict", Resource::cpu, pods, allocatable, {80, 70}, most_priority, unknown);
}

std::optional<double> no_weight(const Candidate&) { return std::nullopt; }

}  // namespace

TEST_CASE("the lower of two usage thresholds is 2 less unless it is given, and has to be less") {
  CHECK(usage_thresholds(80, std::nullopt, kNames)->lower == 78);
  CHECK(usage_thresholds(80, 60, kNames)->lower == 60);
  CHECK(usage_thresholds(std::nullopt, 60, kNames).error().message() == "the NodeSLO does not give upperPercent");
  CHECK(usage_thresholds(80, 80, kNames).error().message() ==
        "lowerPercent is 80, expected less than upperPercent, 80");
}

TEST_CASE("both thresholds of promises have to be given") {
  CHECK(promise_thresholds(110, 100, kNames)->threshold == 110);
  CHECK(promise_thresholds(110, std::nullopt, kNames).error().message() == "the NodeSLO does not give lowerPercent");
  CHECK_FALSE(promise_thresholds(std::nullopt, 100, kNames));
  CHECK_FALSE(promise_thresholds(100, 100, kNames));
}

TEST_CASE("a node that uses more than the threshold releases down to the lower one") {
  CHECK(over_usage(81'000, 100'000, {80, 78}) == 3000);
  CHECK(over_usage(81'000, 100'000, {80, 80}) == 1000);
  CHECK(over_usage(80'000, 100'000, {80, 78}) == 2000);
  CHECK(over_usage(79'999, 100'000, {80, 78}) == 0);
  CHECK(over_usage(80'900, 100'000, {80, 78}) == 2900);  // not truncated to whole percents
  CHECK(over_usage(81'000, 0, {80, 78}) == 0);
  CHECK(over_usage(900LL << 40, 1000LL << 40, {70, 68}) == (900LL << 40) - (680LL << 40));
}

TEST_CASE("the demand of a node that uses too much has the measurements first, then the limits") {
  const auto demand =
      usage_demand("CPUEvict", Resource::cpu, 81'000, 100'000, {80, 78}, {{"node_cpu_usage", "81.00 cores"}});
  REQUIRE(demand);
  CHECK(demand->feature == "CPUEvict");
  CHECK(demand->amount == 3000);
  CHECK(name_of(demand->released) == "cpu");
  CHECK(demand->victims.empty());
  CHECK(demand->reason == "the node uses 81.00 cores of 100.00 cores, 80 % or more");
  CHECK(demand->inputs == Inputs{{"node_cpu_usage", "81.00 cores"},
                                 {"capacity", "100.00 cores"},
                                 {"threshold_percent", "80"},
                                 {"lower_percent", "78"}});
  CHECK_FALSE(usage_demand("CPUEvict", Resource::cpu, 79'000, 100'000, {80, 78}, {}));
}

TEST_CASE("promises above the threshold are reduced to the lower one, and to 0 if nothing is allocatable") {
  CHECK(over_promise(85'000, 100'000, {80, 70}) == 15'000);
  CHECK(over_promise(80'000, 100'000, {80, 70}) == 0);
  CHECK(over_promise(85'000, 100'000, {0, 0}) == 85'000);
  CHECK(over_promise(85'000, 0, {80, 70}) == 85'000);
}

TEST_CASE("the promises to batch and mid pods are compared with the node's amount of each") {
  const std::vector<Candidate> batch = {batch_pod("a", 45'000), batch_pod("b", 40'000)};
  auto all = demands(batch, {std::nullopt, 100'000});
  REQUIRE(all.size() == 1);
  CHECK(all[0].amount == 15'000);
  CHECK(name_of(all[0].released) == "kubernetes.io/batch-cpu.request");
  CHECK(all[0].victims.size() == 2);
  CHECK(all[0].victims[0].pod->name == "a");  // the larger request
  CHECK(all[0].reason == "pods up to priority 7999 request 85.00 cores of kubernetes.io/batch-cpu, "
                         "more than 80 % of the 100.00 cores that there are");

  std::vector<Candidate> both = batch;
  both.push_back(mid_pod("m", 85'000));
  all = demands(both, {100'000, 100'000});
  REQUIRE(all.size() == 2);
  CHECK(all[1].amount == 15'000);
  CHECK(all[1].victims.size() == 1);
  CHECK(demands(both, {100'000, 100'000}, 5999).size() == 1);
  CHECK(demands(batch, {std::nullopt, 0}).at(0).amount == 85'000);
}

TEST_CASE("pods that have ended have no promises and are not evicted") {
  std::vector<Candidate> pods = {batch_pod("a", 45'000), batch_pod("b", 40'000)};
  pods[1].is_active = false;
  CHECK(demands(pods, {std::nullopt, 100'000}).empty());
}

TEST_CASE("only pods with a promise of the scarce resource are evicted, and only if they permit it") {
  std::vector<Candidate> pods = {batch_pod("a", 45'000), batch_pod("disabled", 30'000),
                                 batch_pod("other-policy", 10'000), mid_pod("m", 100)};
  pods[1].is_enabled = false;
  pods[2].policy = Policy(R"(["BECPUEvict"])");
  const auto all = demands(pods, {100'000, 100'000});
  REQUIRE(all.size() == 1);
  CHECK(all[0].amount == 15'000);
  REQUIRE(all[0].victims.size() == 1);
  CHECK(all[0].victims[0].pod->name == "a");
}

TEST_CASE("a node without allocatable amounts gives no demand, and the reason is reported") {
  std::vector<std::string> unknown;
  CHECK(promise_demands("F", Resource::memory, {}, {}, {80, 70}, 7999, unknown).empty());
  CHECK(unknown.empty());  // nothing was promised
  CHECK(promise_demands("F", Resource::cpu, {batch_pod("a", 1)}, {}, {80, 70}, 7999, unknown).empty());
  CHECK(unknown == std::vector<std::string>{"the Node has no allocatable kubernetes.io/batch-cpu"});
}

TEST_CASE("a feature by allocatable amounts reports missing inputs, or appends its demands") {
  Situation situation;
  situation.pods = {batch_pod("a", 45'000), batch_pod("b", 40'000)};
  Decision decision;
  const auto decide = [&](koord::slo::Number threshold, koord::slo::Number lower) {
    decide_by_allocatable("CPUAllocatableEvict", Resource::cpu, promise_thresholds(threshold, lower, kNames), situation,
                          decision);
  };
  decide(80, std::nullopt);
  decide(80, 70);
  situation.slo.allocatable_evict_priority_threshold = 7999;
  decide(80, 70);
  CHECK(decision.demands.empty());
  CHECK(decision.unknown ==
        std::vector<std::string>{"CPUAllocatableEvict: the NodeSLO does not give lowerPercent",
                                 "CPUAllocatableEvict: the NodeSLO does not give allocatableEvictPriorityThreshold",
                                 "CPUAllocatableEvict: the Node has no allocatable kubernetes.io/batch-cpu"});
  situation.allocatable.batch = 100'000;
  decide(80, 70);
  decide(70, 60);
  REQUIRE(decision.demands.size() == 2);
  CHECK(decision.demands[0].amount == 15'000);
  CHECK(decision.demands[1].amount == 25'000);
}

TEST_CASE("best-effort victims have the label; victims by priority are enabled and have at most that priority") {
  std::vector<Candidate> pods = {batch_pod("batch", 1), mid_pod("mid", 1), batch_pod("ended", 1),
                                 batch_pod("refuses", 1)};
  pods[0].is_best_effort = pods[2].is_best_effort = pods[3].is_best_effort = true;
  pods[2].is_active = false;
  pods[3].policy = Policy("[]");
  const auto best_effort = best_effort_victims(pods, "BECPUEvict", no_weight);
  REQUIRE(best_effort.size() == 1);
  CHECK(best_effort[0].pod->name == "batch");
  CHECK(priority_victims(pods, "CPUEvict", 5999, no_weight).size() == 1);
  CHECK(priority_victims(pods, "CPUEvict", 7999, no_weight).size() == 2);
  pods[0].is_enabled = false;
  CHECK(priority_victims(pods, "CPUEvict", 5999, no_weight).empty());
}
