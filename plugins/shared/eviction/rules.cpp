// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/eviction/rules.hpp"

#include <algorithm>
#include <cstdio>

#include "core/base/saturating.hpp"

namespace koord::eviction {
namespace {

// A product of bytes and percents may need more than 64 bits.
__extension__ typedef __int128 Wide;

constexpr std::int64_t kDefaultGap = 2;

std::int64_t percent_of(std::int64_t whole, std::int64_t percent) {
  return static_cast<std::int64_t>(static_cast<Wide>(whole) * percent / 100);
}

Result<Thresholds> ordered(std::int64_t threshold, std::int64_t lower, const ThresholdNames& names) {
  if (lower < threshold) return Thresholds{threshold, lower};
  return invalid(std::string(names.lower) + " is " + std::to_string(lower) + ", expected less than " +
                 std::string(names.threshold) + ", " + std::to_string(threshold));
}

Error missing(std::string_view name) { return invalid("the NodeSLO does not give " + std::string(name)); }

template <class Condition>
std::vector<Victim> victims(const std::vector<Candidate>& pods, std::string_view feature, const Weight& weight,
                            Condition condition) {
  std::vector<Victim> chosen;
  for (const Candidate& pod : pods)
    if (pod.is_active && pod.policy.allows(feature) && condition(pod)) chosen.push_back({&pod, weight(pod)});
  put_in_order(chosen);
  return chosen;
}

bool is_counted(const Candidate& pod, Tier tier, std::int64_t most_priority) {
  return pod.is_active && pod.priority <= most_priority && tier_of(pod.priority_class) == tier;
}

std::int64_t promised(const std::vector<Candidate>& pods, Resource resource, Tier tier, std::int64_t most_priority) {
  std::int64_t sum = 0;
  for (const Candidate& pod : pods)
    if (is_counted(pod, tier, most_priority)) sum = saturating_sum(sum, pod.requests(resource).of(tier));
  return sum;
}

}  // namespace

Result<Thresholds> usage_thresholds(slo::Number threshold, slo::Number lower, const ThresholdNames& names) {
  if (!threshold) return missing(names.threshold);
  return ordered(*threshold, lower.value_or(*threshold - kDefaultGap), names);
}

Result<Thresholds> promise_thresholds(slo::Number threshold, slo::Number lower, const ThresholdNames& names) {
  if (!threshold) return missing(names.threshold);
  if (!lower) return missing(names.lower);
  return ordered(*threshold, *lower, names);
}

std::int64_t over_usage(std::int64_t used, std::int64_t capacity, const Thresholds& thresholds) {
  if (capacity <= 0 || static_cast<Wide>(used) * 100 < static_cast<Wide>(capacity) * thresholds.threshold) return 0;
  return std::max<std::int64_t>(used - percent_of(capacity, thresholds.lower), 0);
}

std::int64_t over_promise(std::int64_t promised, std::int64_t allocatable, const Thresholds& thresholds) {
  if (allocatable <= 0) return promised;
  if (static_cast<Wide>(promised) * 100 <= static_cast<Wide>(allocatable) * thresholds.threshold) return 0;
  return std::max<std::int64_t>(promised - percent_of(allocatable, thresholds.lower), 0);
}

std::optional<double> use_of(const Candidate& pod) {
  return pod.used ? std::optional(static_cast<double>(*pod.used)) : std::nullopt;
}

std::vector<Victim> best_effort_victims(const std::vector<Candidate>& pods, std::string_view feature,
                                        const Weight& weight) {
  return victims(pods, feature, weight, [](const Candidate& pod) { return pod.is_best_effort; });
}

std::vector<Victim> priority_victims(const std::vector<Candidate>& pods, std::string_view feature,
                                     std::int64_t most_priority, const Weight& weight) {
  return victims(pods, feature, weight,
                 [most_priority](const Candidate& pod) { return pod.is_enabled && pod.priority <= most_priority; });
}

std::optional<Demand> usage_demand(std::string_view feature, Resource resource, std::int64_t used,
                                   std::int64_t capacity, const Thresholds& thresholds, Inputs measured) {
  const std::int64_t amount = over_usage(used, capacity, thresholds);
  if (amount <= 0) return std::nullopt;
  Demand demand;
  demand.feature = feature;
  demand.released = {Kind::used, resource, Tier::native};
  demand.amount = amount;
  demand.reason = "the node uses " + in_words(resource, used) + " of " + in_words(resource, capacity) + ", " +
                  std::to_string(thresholds.threshold) + " % or more";
  demand.inputs = std::move(measured);
  demand.inputs.emplace_back("capacity", in_words(resource, capacity));
  demand.inputs.emplace_back("threshold_percent", std::to_string(thresholds.threshold));
  demand.inputs.emplace_back("lower_percent", std::to_string(thresholds.lower));
  return demand;
}

std::vector<Demand> promise_demands(std::string_view feature, Resource resource, const std::vector<Candidate>& pods,
                                    const Allocatable& allocatable, const Thresholds& thresholds,
                                    std::int64_t most_priority, std::vector<std::string>& unknown) {
  std::vector<Demand> demands;
  for (Tier tier : {Tier::batch, Tier::mid}) {
    const std::int64_t sum = promised(pods, resource, tier, most_priority);
    if (sum <= 0) continue;
    const std::string name(name_of(resource, tier));
    const std::optional<std::int64_t> there = allocatable.of(tier);
    if (!there) {
      unknown.push_back("the Node has no allocatable " + name);
      continue;
    }
    const std::int64_t amount = over_promise(sum, *there, thresholds);
    if (amount <= 0) continue;
    Demand demand;
    demand.feature = feature;
    demand.released = {Kind::requested, resource, tier};
    demand.amount = amount;
    demand.victims = priority_victims(pods, feature, most_priority, [&](const Candidate& pod) {
      return static_cast<double>(requested(pod, resource));
    });
    std::erase_if(demand.victims, [&](const Victim& victim) { return tier_of(victim.pod->priority_class) != tier; });
    demand.reason = "pods up to priority " + std::to_string(most_priority) + " request " + in_words(resource, sum) +
                    " of " + name + ", more than " + std::to_string(thresholds.threshold) + " % of the " +
                    in_words(resource, *there) + " that there are";
    demand.inputs = {{"requested", in_words(resource, sum)},
                     {"allocatable", in_words(resource, *there)},
                     {"threshold_percent", std::to_string(thresholds.threshold)},
                     {"lower_percent", std::to_string(thresholds.lower)}};
    demands.push_back(std::move(demand));
  }
  return demands;
}

std::string in_words(Resource resource, std::int64_t amount) {
  constexpr double kGibibyte = 1024.0 * 1024 * 1024;
  char text[64];
  if (resource == Resource::cpu)
    std::snprintf(text, sizeof text, "%.2f cores", static_cast<double>(amount) / 1000);
  else
    std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(amount) / kGibibyte);
  return text;
}

}  // namespace koord::eviction
