// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-memory-evict/memory_evict.hpp"

namespace koord::memory_evict {
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

std::optional<double> used(const Candidate& pod) {
  return pod.used ? std::optional(static_cast<double>(*pod.used)) : std::nullopt;
}

// A demand without victims; nothing while there is no need, or no way to know.
std::optional<Demand> by_usage(std::string_view feature, const Situation& situation, std::optional<std::int64_t> node_bytes,
                               Decision& decision) {
  const slo::Threshold& slo = situation.slo;
  const Result<Thresholds> wanted = usage_thresholds(slo.memory_evict_threshold_percent, slo.memory_evict_lower_percent,
                                                     {"memoryEvictThresholdPercent", "memoryEvictLowerPercent"});
  if (!wanted) return decision.cannot(feature, wanted.error().message()), std::nullopt;
  if (!situation.capacity) return decision.cannot(feature, "the node's memory is not known"), std::nullopt;
  if (!node_bytes) return decision.cannot(feature, "node_memory_usage is not measured (advisor-node-resource)"), std::nullopt;
  if (*node_bytes > *situation.capacity)
    return decision.cannot(feature, "the node uses " + in_words(Resource::memory, *node_bytes) + ", more than its capacity of " +
                                        in_words(Resource::memory, *situation.capacity) + ", so one of both is wrong"),
           std::nullopt;
  Demand demand;
  demand.feature = feature;
  demand.what = {Kind::used, Resource::memory, Tier::native};
  demand.amount = over_usage(*node_bytes, *situation.capacity, *wanted);
  if (demand.amount <= 0) return std::nullopt;
  demand.reason = "the node uses " + in_words(Resource::memory, *node_bytes) + " of " + in_words(Resource::memory, *situation.capacity) +
                  ", " + std::to_string(wanted->threshold) + " % or more";
  demand.inputs = {{"node_memory_usage", in_words(Resource::memory, *node_bytes)},
                   {"capacity", in_words(Resource::memory, *situation.capacity)},
                   {"threshold_percent", std::to_string(wanted->threshold)},
                   {"lower_percent", std::to_string(wanted->lower)}};
  return demand;
}

void of_best_effort(const Situation& situation, std::optional<std::int64_t> node_bytes, Decision& decision) {
  std::optional<Demand> demand = by_usage(kBestEffort, situation, node_bytes, decision);
  if (!demand) return;
  demand->victims = best_effort_victims(situation.pods, kBestEffort, used);
  decision.demands.push_back(*std::move(demand));
}

void by_allocatable(const Situation& situation, Decision& decision) {
  const slo::Threshold& slo = situation.slo;
  const Result<Thresholds> wanted =
      promise_thresholds(slo.memory_allocatable_evict_threshold_percent, slo.memory_allocatable_evict_lower_percent,
                         {"memoryAllocatableEvictThresholdPercent", "memoryAllocatableEvictLowerPercent"});
  if (!wanted) return decision.cannot(kAllocatable, wanted.error().message());
  if (!slo.allocatable_evict_priority_threshold)
    return decision.cannot(kAllocatable, "the NodeSLO does not give allocatableEvictPriorityThreshold");
  std::vector<std::string> unknown;
  for (Demand& demand : promise_demands(kAllocatable, Resource::memory, situation.pods, situation.allocatable, *wanted,
                                        *slo.allocatable_evict_priority_threshold, unknown))
    decision.demands.push_back(std::move(demand));
  for (const std::string& why : unknown) decision.cannot(kAllocatable, why);
}

void of_priority(const Situation& situation, std::optional<std::int64_t> node_bytes, Decision& decision) {
  const slo::Number most = situation.slo.evict_enabled_priority_threshold;
  if (!most) return decision.cannot(kUsage, "the NodeSLO does not give evictEnabledPriorityThreshold");
  std::optional<Demand> demand = by_usage(kUsage, situation, node_bytes, decision);
  if (!demand) return;
  demand->victims = priority_victims(situation.pods, kUsage, *most, used);
  demand->inputs.emplace_back("priority_threshold", std::to_string(*most));
  decision.demands.push_back(*std::move(demand));
}

}  // namespace

Decision decide(const Situation& situation, std::optional<std::int64_t> node_bytes) {
  Decision decision;
  if (decision.may_act(situation, kBestEffort)) of_best_effort(situation, node_bytes, decision);
  if (decision.may_act(situation, kAllocatable)) by_allocatable(situation, decision);
  if (decision.may_act(situation, kUsage)) of_priority(situation, node_bytes, decision);
  return decision;
}

}  // namespace koord::memory_evict
