// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/cache_windows.hpp"

#include <utility>

namespace koord::interference {
namespace {

using analysis::CacheSubject;
using analysis::CacheWindow;
using performance::Estimate;
using performance::GroupReading;

// Counts from a smaller share of the time are dropped, as in advisor-performance.
constexpr double kFewestRunning = 0.05;
constexpr std::size_t kCycles = 0, kInstructions = 1;

double cpu_seconds(const std::vector<GroupReading>& groups) {
  double ns = 0;
  for (const GroupReading& group : groups) ns += static_cast<double>(group.enabled_ns);
  return ns / 1e9;
}

}  // namespace

CacheWindow CacheWindows::window_of(std::uint64_t handle, const CounterTotals* totals, double seconds) {
  CacheWindow window{.subject = handle};
  const auto before = before_.find(handle);
  if (!totals || before == before_.end()) return window;
  const auto counted = performance::since(totals->groups, before->second.groups);
  if (!counted) return window;
  const Estimate estimate = performance::estimate(*counted, kFewestRunning);
  const bool is_idle = estimate.verdict == performance::Verdict::idle;
  is_any_counted_ |= estimate.verdict == performance::Verdict::counted;
  is_any_without_counters_ |= estimate.verdict == performance::Verdict::not_scheduled;
  // The time on a CPU is known without hardware counters. A container without running threads has no other value.
  window.is_counted = is_idle || estimate.verdict == performance::Verdict::counted;
  window.usage = cpu_seconds(*counted) / seconds;
  if (is_idle || !window.is_counted) return window;
  window.cycles = estimate.counts[kCycles] / seconds;
  window.instructions = estimate.counts[kInstructions] / seconds;
  if (llc_misses_) window.llc_misses = estimate.counts[*llc_misses_] / seconds;
  return window;
}

std::vector<CacheSubject> CacheWindows::next(const std::vector<KnownContainer>& containers,
                                             std::vector<CounterTotals> totals, double seconds) {
  is_any_counted_ = is_any_without_counters_ = false;
  std::unordered_map<std::uint64_t, CounterTotals> now;
  for (CounterTotals& one : totals) now[one.handle] = std::move(one);
  std::vector<CacheSubject> subjects;
  for (const KnownContainer& container : containers) {
    const auto found = now.find(container.handle);
    const CounterTotals* totals_of = found == now.end() ? nullptr : &found->second;
    subjects.push_back({container.workload, window_of(container.handle, totals_of, seconds), container.cgroup_dir});
  }
  before_ = std::move(now);
  return subjects;
}

}  // namespace koord::interference
