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
using strategy::Wishes;

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

bool may_step(const Container& container) { return container.is_running && container.limit_milli > 0 && !container.id.empty(); }

std::int64_t limit_of(const Pod& pod) {
  std::int64_t sum = 0;
  for (const Container& container : pod.containers) sum += container.limit_milli;
  return sum;
}

// What the container keeps at most of a quota that it did not use, in µs; 0: nothing.
std::int64_t burst_us(const slo::CpuBurst& settings, std::int64_t limit_milli, bool above_quota) {
  if (!has_static_part(settings) || limit_milli <= 0) return 0;
  const std::int64_t whole = limit_milli * settings.cpu_burst_percent.value_or(0);  // limit · percent · 100 ms
  return above_quota ? whole : std::min(whole, quota_of(limit_milli, kPeriodUs));
}

// What a change of the quota changes of what is used: a raise is used at once, what nobody used is not missed.
double effect(const Container& container, const Bandwidth& from, const Bandwidth& to) {
  const double change = to.cores() - from.cores();
  if (change >= 0) return change;
  return -std::max(0.0, std::min(container.usage_cores.value_or(from.cores()), from.cores()) - to.cores());
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
  return "the shared CPUs are " + std::string(name_of(state)) + ", " + cores(pool.used) + " of " + cores(pool.total) + " cores in use, threshold " +
         cores(pool.threshold_percent) + " %";
}

std::string reason_of(const Container& container, Operation operation, const Bandwidth& before, const Bandwidth& to, const std::string& pool) {
  std::string reason = "container " + container.name;
  if (container.throttled && container.throttled->ratio > 0)
    reason += " is held back by its quota in " + percent(container.throttled->ratio) + " of its periods";
  else
    reason += " was held back by its quota";
  return reason + ", and " + pool + ": quota " + name_of(operation) + ", " + cores(to.cores()) + " cores for a limit of " + cores(before.cores());
}

}  // namespace

bool CpuBurst::reads_quota(const slo::CpuBurst& settings, const Container& container) const {
  if (!has_quota_part(settings) || !may_step(container)) return false;
  return raised_.contains(container.id) || (container.throttled && container.throttled->ratio > 0);
}

bool CpuBurst::limiter_allows(const slo::CpuBurst& settings, const Container& container, std::uint64_t now_ns) {
  const std::int64_t period = settings.cfs_quota_burst_period_seconds.value_or(-1);
  if (period < 0 || !has_quota_part(settings)) {
    limiters_.erase(container.id);
    return true;
  }
  const std::int64_t percent = settings.cfs_quota_burst_percent.value_or(100);
  auto limiter = limiters_.find(container.id);
  if (limiter == limiters_.end() || !limiter->second.is_for(period, percent))
    limiter = limiters_.insert_or_assign(container.id, Limiter(period, percent, start_of(container.id), now_ns)).first;
  std::optional<double> usage;
  if (container.usage_cores) usage = std::floor(*container.usage_cores * 1000 / static_cast<double>(container.limit_milli) * 100);
  limiter->second.take(usage, now_ns);
  return limiter->second.allows();
}

// What became of the last steps, and whether they still begin from the same limits: when those change the kubelet writes the
// quotas anew, and from there it begins again.
void CpuBurst::observe(const Pod& pod) {
  for (const Container& container : pod.containers) {
    const auto found = raised_.find(container.id);
    if (found == raised_.end()) continue;
    Raised& raised = found->second;
    if (raised.limit_milli != container.limit_milli || raised.pod_limit_milli != limit_of(pod)) {
      raised_.erase(found);
      continue;
    }
    if (!container.quota || *container.quota == raised.seen) continue;
    unseen_.changed(effect(container, raised.seen, *container.quota), raised.stepped_ns);
    raised.seen = *container.quota;
  }
}

std::optional<CpuBurst::Step> CpuBurst::step(const Pod& pod, const Container& container, PoolState state, std::uint64_t now_ns) {
  if (!may_step(container)) return std::nullopt;
  const bool may = limiter_allows(pod.settings, container, now_ns);
  const auto raised = raised_.find(container.id);
  if (!reads_quota(pod.settings, container) || !container.quota) return std::nullopt;
  std::optional<double> throttled;
  // One measurement moves a quota once, however seldom it is measured.
  if (container.throttled && (raised == raised_.end() || container.throttled->at_ns > raised->second.stepped_ns))
    throttled = container.throttled->ratio;
  const Operation operation = allowed(wanted(pod.settings, may, throttled), state);
  if (operation == Operation::reset || (raised == raised_.end() && operation != Operation::scale_up)) return std::nullopt;
  const Bandwidth before = raised == raised_.end() ? *container.quota : raised->second.before;
  Bandwidth to = *container.quota;
  to.quota_us = next_quota(operation, to.quota_us, before.quota_us, pod.settings);
  return Step{&pod, &container, operation, before, to};
}

// All that are raised share what the pool has before it cools, so that they never overload it themselves.
void CpuBurst::share_room(std::vector<Step>& steps, double room) const {
  double wanted = 0;
  for (const Step& step : steps)
    if (step.operation == Operation::scale_up) wanted += std::max(0.0, step.to.cores() - step.container->quota->cores());
  if (wanted <= room) return;
  for (Step& step : steps) {
    if (step.operation != Operation::scale_up) continue;
    const std::int64_t now = step.container->quota->quota_us, more = std::max<std::int64_t>(step.to.quota_us - now, 0);
    step.to.quota_us = std::max(step.before.quota_us, now) + static_cast<std::int64_t>(static_cast<double>(more) * room / wanted);
  }
}

void CpuBurst::keep(const std::vector<Step>& steps, std::uint64_t now_ns) {
  for (const Step& step : steps) {
    const Container& container = *step.container;
    if (step.to.quota_us <= step.before.quota_us) {
      raised_.erase(container.id);
      continue;
    }
    Raised& raised = raised_[container.id];
    if (step.to != *container.quota) raised.stepped_ns = now_ns;
    raised.limit_milli = container.limit_milli;
    raised.pod_limit_milli = limit_of(*step.pod);
    raised.before = step.before;
    raised.seen = *container.quota;
  }
}

void CpuBurst::wish_bursts(const Pod& pod, Wishes& wishes) const {
  std::int64_t sum = 0;
  bool all_limited = true;
  const Inputs inputs = {{"cpu_burst_percent", std::to_string(pod.settings.cpu_burst_percent.value_or(0))}};
  const std::string why = " may use later what it did not use of its quota";
  for (const Container& container : pod.containers) {
    all_limited = all_limited && container.limit_milli > 0;
    const std::int64_t burst = burst_us(pod.settings, container.limit_milli, burst_above_quota_);
    if (burst <= 0 || container.cgroup_dir.empty()) continue;
    sum += burst;
    wishes.push_back({KOORD_LEVEL_CONTAINER, "cpu.max.burst", container.cgroup_dir, std::to_string(burst), "container " + container.name + why,
                      inputs});
  }
  // A pod of which one container has no limit has none itself.
  if (sum > 0 && all_limited && !pod.cgroup_dir.empty())
    wishes.push_back({KOORD_LEVEL_POD, "cpu.max.burst", pod.cgroup_dir, std::to_string(sum), "pod " + pod.name + why, inputs});
}

void CpuBurst::wish_quotas(const std::vector<Step>& steps, const Pool& pool, PoolState state, Wishes& wishes) {
  const std::string about_pool = pool_in_words(pool, state);
  std::map<const Pod*, double> added;  // cores, to the pod's own
  for (const Step& step : steps) {
    if (step.to.quota_us <= step.before.quota_us) continue;
    added[step.pod] += step.to.cores() - step.before.cores();
    Inputs inputs = {{"pool_state", name_of(state)}, {"pool_used_cores", cores(pool.used)}, {"pool_total_cores", cores(pool.total)}};
    if (step.container->throttled) inputs.emplace_back("throttled_ratio", cores(step.container->throttled->ratio));
    wishes.push_back({KOORD_LEVEL_CONTAINER, "cpu.max", step.container->cgroup_dir, text_of(step.to),
                      reason_of(*step.container, step.operation, step.before, step.to, about_pool), std::move(inputs)});
  }
  std::erase_if(pods_before_, [&](const auto& known) {
    return std::none_of(added.begin(), added.end(), [&](const auto& one) { return one.first->cgroup_dir == known.first; });
  });
  for (const auto& [pod, more] : added) {
    if (!pod->quota || pod->cgroup_dir.empty()) continue;  // nothing holds it back
    Bandwidth to = pods_before_.try_emplace(pod->cgroup_dir, *pod->quota).first->second;
    to.quota_us += static_cast<std::int64_t>(std::ceil(more * static_cast<double>(to.period_us)));
    wishes.push_back({KOORD_LEVEL_POD, "cpu.max", pod->cgroup_dir, text_of(to),
                      "pod " + pod->name + " has room for the quotas of its containers", {{"added_cores", cores(more)}}});
  }
}

void CpuBurst::forget_all_but(const std::vector<Pod>& pods) {
  if (limiters_.empty() && raised_.empty()) return;
  std::set<std::string_view> living;
  for (const Pod& pod : pods)
    for (const Container& container : pod.containers)
      if (has_quota_part(pod.settings)) living.insert(container.id);
  std::erase_if(limiters_, [&](const auto& known) { return !living.contains(known.first); });
  std::erase_if(raised_, [&](const auto& known) { return !living.contains(known.first); });
}

strategy::Wishes CpuBurst::bursts(const std::vector<Pod>& pods) const {
  Wishes wishes;
  for (const Pod& pod : pods) wish_bursts(pod, wishes);
  return wishes;
}

strategy::Wishes CpuBurst::quotas(const Situation& situation) {
  forget_all_but(situation.pods);
  for (const Pod& pod : situation.pods) observe(pod);
  Pool pool = situation.pool.value_or(Pool());
  pool.used += unseen_.cores(situation.now_ns);
  const PoolState state = situation.pool ? state_of(pool) : PoolState::unknown;
  std::vector<Step> steps;
  for (const Pod& pod : situation.pods)
    for (const Container& container : pod.containers)
      if (auto next = step(pod, container, state, situation.now_ns)) steps.push_back(*next);
  share_room(steps, pool.room());
  keep(steps, situation.now_ns);
  Wishes wishes;
  wish_quotas(steps, pool, state, wishes);
  return wishes;
}

strategy::Wishes CpuBurst::plan(const Situation& situation) {
  Wishes wishes = bursts(situation.pods), more = quotas(situation);
  std::move(more.begin(), more.end(), std::back_inserter(wishes));
  return wishes;
}

}  // namespace koord::cpu_burst
