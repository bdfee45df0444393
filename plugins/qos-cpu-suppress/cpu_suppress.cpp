// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-suppress/cpu_suppress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "koordetector/plugin.h"

namespace koord::cpu_suppress {
namespace {

constexpr std::int64_t kPeriodUs = 100'000;
constexpr std::int64_t kLeastQuotaUs = 2000;
// Divisors of the node's CPUs: the largest increase in a round, and the smallest change that is written.
constexpr std::int64_t kStepDivisor = 10, kIgnoredDivisor = 100;
// Best-effort pods keep two CPUs, so two of their threads can run at the same time. A node with fewer than four CPUs
// has no CPU to spare.
constexpr std::size_t kLeastCpus = 2, kFewCpus = 4;

std::int64_t rounded_up(std::int64_t amount, std::int64_t unit) { return (amount + unit - 1) / unit; }

// Rounds down to whole milli-cores. The epsilon is needed because 4.2 · 1000 is a little less than 4200.
std::int64_t milli(double cores) { return static_cast<std::int64_t>(std::floor(cores * 1000 + 1e-6)); }

std::string cores(std::int64_t milli) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%lld.%02lld", milli < 0 ? "-" : "",
                static_cast<long long>(std::abs(milli) / 1000), static_cast<long long>(std::abs(milli) % 1000 / 10));
  return text;
}

std::string policy_name(Policy policy) {
  if (policy == Policy::cfs_quota) return "cfsQuota";
  return policy == Policy::cpuset ? "cpuset" : "cpuIdle";
}

// Returns the smallest budget of the last hold_ns. An earlier budget that is not lower than a later one is irrelevant.
std::int64_t hold(std::deque<std::pair<std::uint64_t, std::int64_t>>& budgets, std::uint64_t now_ns,
                  std::int64_t budget, std::uint64_t hold_ns) {
  while (!budgets.empty() && budgets.back().second >= budget) budgets.pop_back();
  budgets.emplace_back(now_ns, budget);
  while (budgets.size() > 1 && budgets.front().first + hold_ns <= now_ns) budgets.pop_front();
  return budgets.front().second;
}

strategy::Inputs evidence(const Inputs& inputs, const Round& round) {
  strategy::Inputs named = {{"policy", policy_name(inputs.policy)},
                            {"capacity", cores(inputs.capacity_milli)},
                            {"threshold_percent", std::to_string(inputs.threshold_percent)},
                            {"other_pods", cores(milli(inputs.use.pods))},
                            {"host_applications", cores(milli(inputs.use.applications))},
                            {"system", cores(milli(inputs.use.system))},
                            {"best_effort", cores(milli(inputs.use.best_effort))},
                            {"budget", cores(round.budget_milli)},
                            {"least_budget_held", cores(round.held_milli)}};
  if (inputs.min_percent) named.emplace_back("min_percent", std::to_string(*inputs.min_percent));
  return named;
}

std::string reason(const Inputs& inputs, const Round& round, const std::string& gets) {
  return "others than best-effort pods use " + cores(milli(inputs.use.others())) + " cores; " +
         std::to_string(inputs.threshold_percent) + " % of " + cores(inputs.capacity_milli) + " leave " +
         cores(std::max<std::int64_t>(round.held_milli, 0)) + ": best-effort pods get " + gets;
}

void propose(const Inputs& inputs, Round& round, std::uint32_t level, const std::vector<std::string>& dirs,
             const std::string& knob, const std::string& value, const std::string& why) {
  const strategy::Inputs named = evidence(inputs, round);
  // Fewer CPUs and less time only limit the cgroups; cpu.idle is a switch.
  const std::uint32_t role = inputs.policy == Policy::cpu_idle ? KOORD_ROLE_SET : KOORD_ROLE_CAP;
  for (const std::string& dir : dirs) round.intents.push_back({level, knob, dir, value, why, named, 0, role});
}

void propose_for_all(const Inputs& inputs, Round& round, const std::string& knob, const std::string& value,
                     const std::string& why) {
  propose(inputs, round, KOORD_LEVEL_QOS, inputs.targets.classes, knob, value, why);
  propose(inputs, round, KOORD_LEVEL_POD, inputs.targets.pods, knob, value, why);
}

std::size_t wanted_cpus(const Inputs& inputs, const Round& round, std::optional<std::size_t> before) {
  const std::size_t online = inputs.pools.online.size();
  const std::size_t least = online < kFewCpus ? 1 : kLeastCpus;
  const std::int64_t affordable = std::max<std::int64_t>(round.held_milli, 0);
  std::size_t wanted = std::max(static_cast<std::size_t>(rounded_up(affordable, 1000)), least);
  if (!before) return wanted;  // they have all CPUs, so there is no larger step
  // A part of a CPU counts as a whole CPU, but an increase needs at least half a CPU more. Otherwise the number would
  // oscillate near whole numbers.
  if (wanted > *before) wanted = std::max(static_cast<std::size_t>((affordable + 500) / 1000), *before);
  const auto step = static_cast<std::size_t>(rounded_up(static_cast<std::int64_t>(online), kStepDivisor));
  return std::min(wanted, *before + step);
}

void plan_cpuset(const Inputs& inputs, Memory& memory, Round& round) {
  const CpuSet picked = pick_from_pools(wanted_cpus(inputs, round, memory.cpus), inputs.pools);
  if (picked.empty()) {
    round.problem = "no CPU is left that best-effort pods may have: all are reserved or others' own";
    memory.cpus.reset();
    return;
  }
  memory.cpus = picked.size();
  if (picked.size() == inputs.pools.online.size()) return;  // they have all CPUs without an intent
  round.granted_milli = 1000 * static_cast<std::int64_t>(picked.size());
  const std::string why = reason(inputs, round, "the CPUs " + picked.list());
  // On v1, only the innermost cgroups are changed, because a cgroup that is created below a narrowed cgroup inherits
  // its CPUs and would keep them forever.
  if (inputs.targets.cpus_of_parents) {
    propose_for_all(inputs, round, "cpuset.cpus", picked.list(), why);
    return;
  }
  propose(inputs, round, KOORD_LEVEL_CONTAINER, inputs.targets.containers, "cpuset.cpus", picked.list(), why);
  propose(inputs, round, KOORD_LEVEL_POD, inputs.targets.whole_pods, "cpuset.cpus", picked.list(), why);
}

std::int64_t wanted_quota(const Inputs& inputs, const Round& round, std::optional<std::int64_t> before) {
  const std::int64_t wanted = std::max(round.held_milli * (kPeriodUs / 1000), kLeastQuotaUs);
  if (!before) return wanted;
  const std::int64_t all = rounded_up(inputs.capacity_milli, 1000) * kPeriodUs;
  if (std::abs(wanted - *before) < all / kIgnoredDivisor && wanted != kLeastQuotaUs) return *before;
  return std::min(wanted, *before + all / kStepDivisor);
}

// If no single cgroup contains all best-effort pods, each cgroup gets an equal part.
void plan_quota(const Inputs& inputs, Memory& memory, Round& round) {
  const std::int64_t quota = wanted_quota(inputs, round, memory.quota_us);
  memory.quota_us = quota;
  const auto parts = static_cast<std::int64_t>(inputs.targets.classes.size() + inputs.targets.pods.size());
  if (parts == 0 || quota >= rounded_up(inputs.capacity_milli, 1000) * kPeriodUs) return;
  round.granted_milli = quota / (kPeriodUs / 1000);
  const std::string value = std::to_string(std::max(quota / parts, kLeastQuotaUs)) + " " + std::to_string(kPeriodUs);
  propose_for_all(inputs, round, "cpu.max", value,
                  reason(inputs, round, cores(*round.granted_milli) + " cores of time"));
}

void plan_idle(const Inputs& inputs, Round& round) {
  propose_for_all(inputs, round, "cpu.idle", "1",
                  "best-effort pods get only otherwise idle CPU time, by the policy "
                  "cpuIdle");
}

}  // namespace

std::int64_t budget_milli(const Inputs& inputs) {
  const usage::Split& use = inputs.use;
  const std::int64_t budget = inputs.capacity_milli * inputs.threshold_percent / 100 - milli(use.pods) -
                              milli(use.applications) - milli(use.system);
  return inputs.min_percent ? std::max(budget, inputs.capacity_milli * *inputs.min_percent / 100) : budget;
}

Round plan(const Inputs& inputs, const Settings& settings, Memory& memory) {
  Round round;
  round.budget_milli = budget_milli(inputs);
  round.held_milli = hold(memory.budgets, inputs.now_ns, round.budget_milli, settings.hold_ns);
  if (inputs.policy != Policy::cpuset) memory.cpus.reset();
  if (inputs.policy != Policy::cfs_quota) memory.quota_us.reset();
  if (inputs.policy == Policy::cpuset) plan_cpuset(inputs, memory, round);
  if (inputs.policy == Policy::cfs_quota) plan_quota(inputs, memory, round);
  if (inputs.policy == Policy::cpu_idle) plan_idle(inputs, round);
  return round;
}

}  // namespace koord::cpu_suppress
