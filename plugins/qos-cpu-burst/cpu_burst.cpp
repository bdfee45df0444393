// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-burst/cpu_burst.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

#include "koordetector/plugin.h"

namespace koord::cpu_burst {
namespace {

using strategy::Inputs;
using strategy::Intents;

constexpr std::int64_t kPeriodUs = 100'000;

std::string cores(double amount) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", amount);
  return text;
}

std::string percent(double of_one) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", of_one * 100);
  return text;
}

bool may_step(const Container& container) {
  return container.is_running && container.limit_milli > 0 && !container.cgroup_dir.empty();
}

// Returns how much unused quota the container may keep, in µs; 0: none.
std::int64_t burst_us(const slo::CpuBurst& settings, std::int64_t limit_milli, bool above_quota) {
  if (!has_static_part(settings) || limit_milli <= 0) return 0;
  std::int64_t whole = 0;  // limit · percent · 100 ms
  if (__builtin_mul_overflow(limit_milli, settings.cpu_burst_percent.value_or(0), &whole)) whole = kMostQuotaUs;
  return std::min(whole, above_quota ? kMostQuotaUs : quota_of(limit_milli, kPeriodUs));
}

// Returns how many cores a change of the factor adds to the usage. A raise counts in full; a reduction only removes the
// part that was used.
double effect(const Container& container, double from, double to) {
  const double before = container.limit_cores() * from, after = container.limit_cores() * to;
  if (after >= before) return after - before;
  return -std::max(0.0, std::min(container.usage_cores.value_or(before), before) - after);
}

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::scale_up:
      return "raised";
    case Operation::scale_down:
      return "lowered";
    default:
      return "kept";
  }
}

std::string pool_in_words(const Pool& pool, PoolState state) {
  if (state == PoolState::unknown) return "the use of the shared CPUs is not known";
  return "the shared CPUs are " + std::string(name_of(state)) + ", " + cores(pool.used) + " of " + cores(pool.total) +
         " cores in use, threshold " + cores(pool.threshold_percent) + " %";
}

std::string reason_of(const Container& container, Operation operation, double scale, const std::string& pool) {
  std::string reason = "container " + container.name;
  if (container.throttled && container.throttled->ratio > 0)
    reason += " is held back by its quota in " + percent(container.throttled->ratio) + " of its periods";
  else
    reason += " was held back by its quota";
  return reason + ", and " + pool + ": quota " + name_of(operation) + ", " + cores(container.limit_cores() * scale) +
         " cores for a limit of " + cores(container.limit_cores());
}

}  // namespace

void CpuBurst::applied(std::string_view cgroup_dir, bool holds) {
  for (auto& [key, raised] : raised_)
    if (raised.cgroup_dir == cgroup_dir) raised.in_effect = holds ? raised.proposed : 1;
}

bool CpuBurst::may_move(const slo::CpuBurst& settings, const Container& container) const {
  if (!has_quota_part(settings) || !may_step(container)) return false;
  return raised_.contains(container.key()) || (container.throttled && container.throttled->ratio > 0);
}

bool CpuBurst::limiter_allows(const slo::CpuBurst& settings, const Container& container, std::uint64_t now_ns) {
  const std::int64_t period = settings.cfs_quota_burst_period_seconds.value_or(-1);
  if (period < 0 || !has_quota_part(settings)) {
    limiters_.erase(container.key());
    return true;
  }
  const std::int64_t percent = settings.cfs_quota_burst_percent.value_or(100);
  auto limiter = limiters_.find(container.key());
  if (limiter == limiters_.end() || !limiter->second.is_for(period, percent))
    limiter =
        limiters_.insert_or_assign(container.key(), Limiter(period, percent, start_of(container.key()), now_ns)).first;
  std::optional<double> usage;
  if (container.usage_cores)
    usage = std::floor(*container.usage_cores * 1000 / static_cast<double>(container.limit_milli) * 100);
  limiter->second.take(usage, now_ns);
  return limiter->second.allows();
}

// Reads the result of the last steps. A container with a changed limit starts at the factor 1 again.
void CpuBurst::observe(const Pod& pod) {
  for (const Container& container : pod.containers) {
    const auto found = raised_.find(container.key());
    if (found == raised_.end()) continue;
    Raised& raised = found->second;
    if (raised.limit_milli != container.limit_milli || raised.pod_limit_milli != pod.limit_milli) {
      raised_.erase(found);
      continue;
    }
    if (raised.in_effect == raised.counted) continue;
    changes_.changed(effect(container, raised.counted, raised.in_effect), raised.stepped_ns);
    raised.counted = raised.in_effect;
  }
}

void CpuBurst::note_held_back(const Container& container, const Pool& pool, PoolState state, bool limiter_allows,
                              std::uint64_t now_ns) {
  const auto [noted, is_new] = noted_ns_.try_emplace(container.key(), now_ns);
  if (!is_new && now_ns - noted->second < kHeldBackAgainNs) return;
  noted->second = now_ns;
  const std::string why =
      limiter_allows ? pool_in_words(pool, state) : "it has used up what cfsQuotaBurstPeriodSeconds allows";
  held_back_.push_back({container.handle, "container " + container.name + " is held back by its quota in " +
                                              percent(container.throttled->ratio) +
                                              " of its periods and keeps it: " + why});
}

std::optional<CpuBurst::Step> CpuBurst::step(const Pod& pod, const Container& container, const Pool& pool,
                                             PoolState state, std::uint64_t now_ns) {
  if (!may_step(container)) return std::nullopt;
  const bool may = limiter_allows(pod.settings, container, now_ns);
  if (!may_move(pod.settings, container)) return std::nullopt;
  const auto raised = raised_.find(container.key());
  std::optional<double> throttled;
  // One measurement changes a factor once, even if the evaluation is more frequent than the measurement.
  if (container.throttled && (raised == raised_.end() || container.throttled->at_ns > raised->second.stepped_ns))
    throttled = container.throttled->ratio;
  const Operation operation = allowed(wanted(pod.settings, may, throttled), state);
  if (raised == raised_.end() && operation != Operation::scale_up) {
    if (throttled.value_or(0) > 0 && (state != PoolState::unknown || !may))
      note_held_back(container, pool, state, may, now_ns);
    return std::nullopt;
  }
  if (operation == Operation::reset) return std::nullopt;
  // A factor that is kept stays as proposed, even before it is in effect.
  const bool is_kept = operation == Operation::remain;
  const double from = raised == raised_.end() ? 1 : is_kept ? raised->second.proposed : raised->second.in_effect;
  return Step{&pod, &container, operation, from, next_scale(operation, from, pod.settings)};
}

// Divides the room of the shared pool among the raised limits, so together they never overload the pool.
void CpuBurst::share_room(std::vector<Step>& steps, double room) const {
  double wanted = 0;
  for (const Step& step : steps)
    if (step.operation == Operation::scale_up)
      wanted += std::max(0.0, step.to - step.from) * step.container->limit_cores();
  if (wanted <= room) return;
  for (Step& step : steps)
    if (step.operation == Operation::scale_up)
      step.to = rounded_down_scale(step.from + std::max(0.0, step.to - step.from) * room / wanted);
}

void CpuBurst::keep(const std::vector<Step>& steps, std::uint64_t now_ns) {
  for (const Step& step : steps) {
    const Container& container = *step.container;
    if (step.to <= 1) {
      raised_.erase(container.key());
      continue;
    }
    Raised& raised = raised_[container.key()];
    if (step.to != step.from) raised.stepped_ns = now_ns;
    raised.cgroup_dir = container.cgroup_dir;
    raised.limit_milli = container.limit_milli;
    raised.pod_limit_milli = step.pod->limit_milli;
    raised.proposed = step.to;
  }
}

void CpuBurst::propose_bursts(const Pod& pod, Intents& intents) const {
  std::int64_t sum = 0;
  bool all_limited = true;
  const Inputs inputs = {{"cpu_burst_percent", std::to_string(pod.settings.cpu_burst_percent.value_or(0))}};
  const std::string why = std::string(" may use later what it did not use of its quota") +
                          (burst_above_quota_ ? "" : ", at most one quota");
  for (const Container& container : pod.containers) {
    all_limited = all_limited && container.limit_milli > 0;
    const std::int64_t burst = burst_us(pod.settings, container.limit_milli, burst_above_quota_);
    if (burst <= 0 || container.cgroup_dir.empty()) continue;
    sum += burst;
    intents.push_back({KOORD_LEVEL_CONTAINER, "cpu.max.burst", container.cgroup_dir, std::to_string(burst),
                       "container " + container.name + why, inputs});
  }
  // If a container of the pod has no limit, the pod has none either.
  if (sum > 0 && all_limited && !pod.cgroup_dir.empty())
    intents.push_back(
        {KOORD_LEVEL_POD, "cpu.max.burst", pod.cgroup_dir, std::to_string(sum), "pod " + pod.name + why, inputs});
}

void CpuBurst::propose_quotas(const std::vector<Step>& steps, const Pool& pool, PoolState state, Intents& intents) {
  const std::string about_pool = pool_in_words(pool, state);
  std::map<const Pod*, double> added;  // cores above the limits
  for (const Step& step : steps) {
    if (step.to <= 1) continue;
    added[step.pod] += (step.to - 1) * step.container->limit_cores();
    Inputs inputs = {
        {"pool_state", name_of(state)}, {"pool_used_cores", cores(pool.used)}, {"pool_total_cores", cores(pool.total)}};
    if (step.container->throttled) inputs.emplace_back("throttled_ratio", cores(step.container->throttled->ratio));
    intents.push_back({KOORD_LEVEL_CONTAINER, "cpu.max", step.container->cgroup_dir, text_of_scale(step.to),
                       reason_of(*step.container, step.operation, step.to, about_pool), std::move(inputs), 0,
                       KOORD_ROLE_SCALE});
  }
  for (const auto& [pod, more] : added) {
    if (pod->limit_milli <= 0 || pod->cgroup_dir.empty()) continue;  // no quota limits it
    const double scale = rounded_up_scale(1 + more * 1000 / static_cast<double>(pod->limit_milli));
    intents.push_back({KOORD_LEVEL_POD,
                       "cpu.max",
                       pod->cgroup_dir,
                       text_of_scale(scale),
                       "pod " + pod->name + " has room for the quotas of its containers",
                       {{"added_cores", cores(more)}},
                       0,
                       KOORD_ROLE_SCALE});
  }
}

void CpuBurst::forget_all_but(const std::vector<Pod>& pods) {
  if (limiters_.empty() && raised_.empty() && noted_ns_.empty()) return;
  std::set<std::string_view> living;
  for (const Pod& pod : pods)
    for (const Container& container : pod.containers)
      if (has_quota_part(pod.settings)) living.insert(container.key());
  std::erase_if(limiters_, [&](const auto& known) { return !living.contains(known.first); });
  std::erase_if(raised_, [&](const auto& known) { return !living.contains(known.first); });
  std::erase_if(noted_ns_, [&](const auto& known) { return !living.contains(known.first); });
}

strategy::Intents CpuBurst::bursts(const std::vector<Pod>& pods) const {
  Intents intents;
  for (const Pod& pod : pods) propose_bursts(pod, intents);
  return intents;
}

strategy::Intents CpuBurst::quotas(const Situation& situation) {
  forget_all_but(situation.pods);
  for (const Pod& pod : situation.pods) observe(pod);
  Pool pool = situation.pool.value_or(Pool());
  pool.used += changes_.cores(situation.now_ns);
  const PoolState state = situation.pool ? state_of(pool) : PoolState::unknown;
  std::vector<Step> steps;
  held_back_.clear();
  for (const Pod& pod : situation.pods)
    for (const Container& container : pod.containers)
      if (auto next = step(pod, container, pool, state, situation.now_ns)) steps.push_back(*next);
  share_room(steps, pool.room());
  keep(steps, situation.now_ns);
  Intents intents;
  propose_quotas(steps, pool, state, intents);
  return intents;
}

strategy::Intents CpuBurst::plan(const Situation& situation) {
  Intents intents = bursts(situation.pods), more = quotas(situation);
  std::move(more.begin(), more.end(), std::back_inserter(intents));
  return intents;
}

}  // namespace koord::cpu_burst
