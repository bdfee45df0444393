// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-memory-evict/memory_evict.hpp"

#include "plugins/shared/eviction/allocatable_feature.hpp"

namespace koord::memory_evict {
namespace {

using eviction::Demand;
using eviction::in_words;
using eviction::promise_thresholds;
using eviction::Resource;
using eviction::Thresholds;
using eviction::usage_thresholds;

// Returns a demand without victims; nullopt if there is no need or an input is unknown.
std::optional<Demand> by_usage(std::string_view feature, const Situation& situation,
                               std::optional<std::int64_t> node_bytes, Decision& decision) {
  const slo::Threshold& slo = situation.slo;
  const Result<Thresholds> wanted = usage_thresholds(slo.memory_evict_threshold_percent, slo.memory_evict_lower_percent,
                                                     {"memoryEvictThresholdPercent", "memoryEvictLowerPercent"});
  if (!wanted) return decision.cannot(feature, wanted.error().message()), std::nullopt;
  if (!situation.capacity) return decision.cannot(feature, "the node's memory is not known"), std::nullopt;
  if (!node_bytes)
    return decision.cannot(feature, "node_memory_usage is not measured (advisor-node-resource)"), std::nullopt;
  if (*node_bytes > *situation.capacity)
    return decision.cannot(feature, "the node uses " + in_words(Resource::memory, *node_bytes) +
                                        ", more than its capacity of " +
                                        in_words(Resource::memory, *situation.capacity) + ", so one of both is wrong"),
           std::nullopt;
  return usage_demand(feature, Resource::memory, *node_bytes, *situation.capacity, *wanted,
                      {{"node_memory_usage", in_words(Resource::memory, *node_bytes)}});
}

void of_best_effort(const Situation& situation, std::optional<std::int64_t> node_bytes, Decision& decision) {
  std::optional<Demand> demand = by_usage(kBestEffort, situation, node_bytes, decision);
  if (!demand) return;
  demand->victims = best_effort_victims(situation.pods, kBestEffort, eviction::use_of);
  decision.demands.push_back(*std::move(demand));
}

void by_allocatable(const Situation& situation, Decision& decision) {
  const slo::Threshold& slo = situation.slo;
  const Result<Thresholds> wanted =
      promise_thresholds(slo.memory_allocatable_evict_threshold_percent, slo.memory_allocatable_evict_lower_percent,
                         {"memoryAllocatableEvictThresholdPercent", "memoryAllocatableEvictLowerPercent"});
  decide_by_allocatable(kAllocatable, Resource::memory, wanted, situation, decision);
}

void of_priority(const Situation& situation, std::optional<std::int64_t> node_bytes, Decision& decision) {
  const slo::Number most = situation.slo.evict_enabled_priority_threshold;
  if (!most) return decision.cannot(kUsage, "the NodeSLO does not give evictEnabledPriorityThreshold");
  std::optional<Demand> demand = by_usage(kUsage, situation, node_bytes, decision);
  if (!demand) return;
  demand->victims = priority_victims(situation.pods, kUsage, *most, eviction::use_of);
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
