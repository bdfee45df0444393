// SPDX-License-Identifier: Apache-2.0
// The rules shared by evictions for CPU and for memory: how much has to be released if a node uses too much, or has
// promised too much, and which pods may be evicted for it. Formulas are koordlet's, without its truncation to whole
// percents. Pure. [any thread]
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/eviction/demand.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::eviction {

// Percents: at the first there is too much, down to the second it is brought.
struct Thresholds {
  std::int64_t threshold = 0, lower = 0;
};

// Thresholds of a NodeSLO: without a lower one 2 less. An error says which field is missing or contradicts; `names`: of
// the two fields.
struct ThresholdNames {
  std::string_view threshold, lower;
};
Result<Thresholds> usage_thresholds(slo::Number threshold, slo::Number lower, const ThresholdNames& names);
// Both must be given: no pod is evicted by default thresholds.
Result<Thresholds> promise_thresholds(slo::Number threshold, slo::Number lower, const ThresholdNames& names);

// Returns the amount that a node of this capacity has to release at this usage; 0: none.
std::int64_t over_usage(std::int64_t used, std::int64_t capacity, const Thresholds& thresholds);
// Returns the promised amount that has to be released; all if allocatable is 0.
std::int64_t over_promise(std::int64_t promised, std::int64_t allocatable, const Thresholds& thresholds);

// Returns the pod's usage, as a weight; nothing: not measured.
std::optional<double> use_of(const Candidate& pod);

// The active ones that let this feature evict them. In order: with `weight` among those of one priority.
using Weight = std::function<std::optional<double>(const Candidate&)>;
std::vector<Victim> best_effort_victims(const std::vector<Candidate>& pods, std::string_view feature,
                                        const Weight& weight);
// And have opted in, and are of this priority or a lower one.
std::vector<Victim> priority_victims(const std::vector<Candidate>& pods, std::string_view feature,
                                     std::int64_t most_priority, const Weight& weight);

// The node's amount of the resources that Koordinator sells a second time, milli-cores or bytes; nothing: unknown.
struct Allocatable {
  std::optional<std::int64_t> mid, batch;

  std::optional<std::int64_t> of(Tier tier) const { return tier == Tier::mid ? mid : batch; }
};

// Returns the demand of a node that uses `used` of its capacity, without victims; nothing: no need. `measured`: its
// first inputs.
std::optional<Demand> usage_demand(std::string_view feature, Resource resource, std::int64_t used,
                                   std::int64_t capacity, const Thresholds& thresholds, Inputs measured);

// One demand for each of the two tiers of which more is promised to active pods of the priority than the node has. A
// tier with promises but an unknown amount gives none, and a line in `unknown`.
std::vector<Demand> promise_demands(std::string_view feature, Resource resource, const std::vector<Candidate>& pods,
                                    const Allocatable& allocatable, const Thresholds& thresholds,
                                    std::int64_t most_priority, std::vector<std::string>& unknown);

// "2.5 cores", "1.50 GiB": for operators.
std::string in_words(Resource resource, std::int64_t amount);

}  // namespace koord::eviction
