// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-evict/cpu_evict.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/shared/eviction/allocatable_feature.hpp"

namespace koord::cpu_evict {
namespace {

using eviction::Candidate;
using eviction::Demand;
using eviction::in_words;
using eviction::Kind;
using eviction::promise_thresholds;
using eviction::Resource;
using eviction::Thresholds;
using eviction::Tier;
using eviction::usage_thresholds;

constexpr std::int64_t kDefaultUsagePercent = 90;
constexpr std::int64_t kMostLowerPercent = 60;
constexpr double kLeastLimitMilli = 1000;  // with a limit below one CPU, pods always lack CPU

std::string percent(double of_one) { return std::to_string(std::llround(of_one * 100)) + " %"; }
std::string cores(double milli) { return in_words(Resource::cpu, static_cast<std::int64_t>(milli)); }

bool uses_what_it_gets(const BestEffort& pods, std::int64_t usage_percent) {
  if (pods.limit <= 0) return false;
  return pods.limit < kLeastLimitMilli || pods.usage * 100 >= pods.limit * static_cast<double>(usage_percent);
}

Result<Satisfaction> satisfaction_of(const slo::Threshold& slo) {
  const slo::Number lower = slo.cpu_evict_be_satisfaction_lower_percent,
                    upper = slo.cpu_evict_be_satisfaction_upper_percent;
  if (!lower || !upper)
    return invalid("the NodeSLO does not give cpuEvictBESatisfaction" + std::string(lower ? "Upper" : "Lower") +
                   "Percent");
  if (*lower <= 0 || *lower > kMostLowerPercent)
    return invalid("cpuEvictBESatisfactionLowerPercent is " + std::to_string(*lower) + ", expected 1 to 60");
  if (*upper < *lower || *upper >= 100)
    return invalid("cpuEvictBESatisfactionUpperPercent is " + std::to_string(*upper) + ", expected " +
                   std::to_string(*lower) + " to 99");
  return Satisfaction{*lower, *upper, slo.cpu_evict_be_usage_threshold_percent.value_or(kDefaultUsagePercent)};
}

bool is_by_allocatable(const Situation& situation) {
  return situation.slo.cpu_evict_policy == slo::CpuEvictPolicy::allocatable;
}

// Returns the pods with the limit of the policy. For the policy by allocatable, this is the amount on the Node, not the
// limit of the cgroup.
BestEffort by_policy(BestEffort pods, const Situation& situation) {
  if (!is_by_allocatable(situation)) return pods;
  // 0 is a known, small amount.
  pods.limit = static_cast<double>(std::max<std::int64_t>(situation.allocatable.batch.value_or(0), 1));
  return pods;
}

std::optional<double> use_of_request(const Candidate& pod) {
  if (!pod.used || pod.cpu.batch <= 0) return std::nullopt;
  return static_cast<double>(*pod.used) / static_cast<double>(pod.cpu.batch);
}

void by_satisfaction(const Situation& situation, const NodeUsage& node_usage, Decision& decision) {
  const Result<Satisfaction> wanted = satisfaction_of(situation.slo);
  if (!wanted) return decision.cannot(kBestEffort, wanted.error().message());
  if (!node_usage.best_effort.average || !node_usage.best_effort.newest)
    return decision.cannot(kBestEffort, "node_be is not measured for long enough (advisor-be-resource)");
  if (is_by_allocatable(situation) && !situation.allocatable.batch)
    return decision.cannot(kBestEffort, "the Node has no allocatable kubernetes.io/batch-cpu");
  const BestEffort average = by_policy(*node_usage.best_effort.average, situation),
                   newest = by_policy(*node_usage.best_effort.newest, situation);
  const std::int64_t amount = std::min(release(average, *wanted), release(newest, *wanted));
  if (amount <= 0) return;
  Demand demand;
  demand.feature = kBestEffort;
  demand.released = {Kind::requested, Resource::cpu, Tier::batch};
  demand.amount = amount;
  demand.victims = best_effort_victims(situation.pods, kBestEffort, use_of_request);
  demand.reason = "best-effort pods request " + cores(newest.request) + " and get " +
                  percent(newest.limit / newest.request) + " of it, not " + std::to_string(wanted->lower_percent) +
                  " %, and use what they get";
  demand.inputs = {{"be_request", cores(newest.request)},
                   {"be_limit", cores(newest.limit)},
                   {"be_limit_average", cores(average.limit)},
                   {"be_usage_average", cores(average.usage)},
                   {"lower_percent", std::to_string(wanted->lower_percent)},
                   {"upper_percent", std::to_string(wanted->upper_percent)}};
  decision.demands.push_back(std::move(demand));
}

void by_allocatable(const Situation& situation, Decision& decision) {
  const slo::Threshold& slo = situation.slo;
  const Result<Thresholds> wanted =
      promise_thresholds(slo.cpu_allocatable_evict_threshold_percent, slo.cpu_allocatable_evict_lower_percent,
                         {"cpuAllocatableEvictThresholdPercent", "cpuAllocatableEvictLowerPercent"});
  decide_by_allocatable(kAllocatable, Resource::cpu, wanted, situation, decision);
}

void by_usage(const Situation& situation, const NodeUsage& node_usage, Decision& decision) {
  const slo::Threshold& slo = situation.slo;
  const Result<Thresholds> wanted = usage_thresholds(slo.cpu_evict_threshold_percent, slo.cpu_evict_lower_percent,
                                                     {"cpuEvictThresholdPercent", "cpuEvictLowerPercent"});
  if (!wanted) return decision.cannot(kUsage, wanted.error().message());
  if (!slo.evict_enabled_priority_threshold)
    return decision.cannot(kUsage, "the NodeSLO does not give evictEnabledPriorityThreshold");
  if (!situation.capacity) return decision.cannot(kUsage, "the node's CPUs are not known");
  const auto& [average, newest] = node_usage.node_milli;
  if (!average || !newest)
    return decision.cannot(kUsage, "node_cpu_usage is not measured for long enough (advisor-node-resource)");
  const auto used = static_cast<std::int64_t>(std::min(*average, *newest));
  std::optional<Demand> demand =
      usage_demand(kUsage, Resource::cpu, used, *situation.capacity, *wanted,
                   {{"node_cpu_usage", cores(*newest)}, {"node_cpu_usage_average", cores(*average)}});
  if (!demand) return;
  demand->victims = priority_victims(situation.pods, kUsage, *slo.evict_enabled_priority_threshold, eviction::use_of);
  demand->inputs.emplace_back("priority_threshold", std::to_string(*slo.evict_enabled_priority_threshold));
  decision.demands.push_back(*std::move(demand));
}

}  // namespace

std::int64_t release(const BestEffort& pods, const Satisfaction& satisfaction) {
  if (!uses_what_it_gets(pods, satisfaction.usage_percent)) return 0;
  if (pods.request <= 0 || pods.limit * 100 > pods.request * static_cast<double>(satisfaction.lower_percent)) return 0;
  const double enough = pods.request * static_cast<double>(satisfaction.upper_percent) / 100;
  return std::max<std::int64_t>(static_cast<std::int64_t>(std::floor(enough - pods.limit)), 0);
}

Decision decide(const Situation& situation, const NodeUsage& node_usage) {
  Decision decision;
  if (decision.may_act(situation, kBestEffort)) by_satisfaction(situation, node_usage, decision);
  if (decision.may_act(situation, kAllocatable)) by_allocatable(situation, decision);
  if (decision.may_act(situation, kUsage)) by_usage(situation, node_usage, decision);
  return decision;
}

}  // namespace koord::cpu_evict
