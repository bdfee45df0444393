// SPDX-License-Identifier: Apache-2.0
// Rules shared by evictions for CPU and for memory: the amount to release if a node uses or has promised too much, and
// the pods that may be evicted for it. The formulas are koordlet's, but without its truncation to whole percents. Pure.
// [any thread]
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

// In percent: eviction begins above `threshold` and releases down to `lower`.
struct Thresholds {
  std::int64_t threshold = 0, lower = 0;
};

// Thresholds of a NodeSLO. A missing lower threshold is 2 below the threshold. An error names the field that is missing
// or inconsistent; `names`: names of the two fields.
struct ThresholdNames {
  std::string_view threshold, lower;
};
Result<Thresholds> usage_thresholds(slo::Number threshold, slo::Number lower, const ThresholdNames& names);
// Requires both thresholds, because no pod may be evicted by default thresholds.
Result<Thresholds> promise_thresholds(slo::Number threshold, slo::Number lower, const ThresholdNames& names);

// Returns the amount that a node of this capacity has to release at this usage; 0: nothing to release.
std::int64_t over_usage(std::int64_t used, std::int64_t capacity, const Thresholds& thresholds);
// Returns the promised amount that has to be released; all of it if allocatable is 0.
std::int64_t over_promise(std::int64_t promised, std::int64_t allocatable, const Thresholds& thresholds);

// Returns the pod's usage as a weight; nullopt: not measured.
std::optional<double> use_of(const Candidate& pod);

// Orders pods of one priority.
using Weight = std::function<std::optional<double>(const Candidate&)>;
// Returns the active best-effort pods that this feature may evict, in eviction order.
std::vector<Victim> best_effort_victims(const std::vector<Candidate>& pods, std::string_view feature,
                                        const Weight& weight);
// Returns the active pods that this feature may evict, that are enabled for it, and that have at most the priority
// `most_priority`. In eviction order.
std::vector<Victim> priority_victims(const std::vector<Candidate>& pods, std::string_view feature,
                                     std::int64_t most_priority, const Weight& weight);

// The node's allocatable amounts of the tiers mid and batch, in milli-cores or bytes; nullopt: unknown.
struct Allocatable {
  std::optional<std::int64_t> mid, batch;

  std::optional<std::int64_t> of(Tier tier) const { return tier == Tier::mid ? mid : batch; }
};

// Returns the demand of a node that uses `used` of its capacity, without victims; nullopt: nothing to release.
// `measured`: the first inputs of the demand.
std::optional<Demand> usage_demand(std::string_view feature, Resource resource, std::int64_t used,
                                   std::int64_t capacity, const Thresholds& thresholds, Inputs measured);

// Returns one demand for each of the tiers mid and batch in which active pods of its priority are promised more than
// the node has. A tier with promises but an unknown amount gives no demand, and a line in `unknown`.
std::vector<Demand> promise_demands(std::string_view feature, Resource resource, const std::vector<Candidate>& pods,
                                    const Allocatable& allocatable, const Thresholds& thresholds,
                                    std::int64_t most_priority, std::vector<std::string>& unknown);

// Returns an amount for operators: "2.50 cores", "1.50 GiB".
std::string in_words(Resource resource, std::int64_t amount);

}  // namespace koord::eviction
