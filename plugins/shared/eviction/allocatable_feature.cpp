// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/eviction/allocatable_feature.hpp"

namespace koord::eviction {

void decide_by_allocatable(std::string_view feature, Resource resource, const Result<Thresholds>& thresholds,
                           const Situation& situation, Decision& decision) {
  if (!thresholds) return decision.cannot(feature, thresholds.error().message());
  const slo::Number most_priority = situation.slo.allocatable_evict_priority_threshold;
  if (!most_priority) return decision.cannot(feature, "the NodeSLO does not give allocatableEvictPriorityThreshold");
  std::vector<std::string> unknown;
  for (Demand& demand :
       promise_demands(feature, resource, situation.pods, situation.allocatable, *thresholds, *most_priority, unknown))
    decision.demands.push_back(std::move(demand));
  for (const std::string& why : unknown) decision.cannot(feature, why);
}

}  // namespace koord::eviction
