// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/cpu_rule.hpp"

#include <algorithm>
#include <numeric>

namespace koord::analysis {
namespace {

double sum_of_waits(const std::vector<Suspect>& suspects) {
  return std::accumulate(suspects.begin(), suspects.end(), 0.0,
                         [](double sum, const Suspect& suspect) { return sum + suspect.waited; });
}

// Returns whether the container always has a runnable thread. Such a container needs CPU throughput, because its
// requests wait for each other. The measured time of a window may differ from its length by up to a tenth.
bool is_busy(const CpuWindow& window, double self, const CpuRule& rule) {
  constexpr double kTolerance = 0.9;
  return window.run + window.wait - self >= kTolerance * rule.latency_cpus;
}

double longest_wait(const std::vector<Suspect>& suspects) {
  double longest = 0;
  for (const Suspect& suspect : suspects) longest = std::max(longest, suspect.waited);
  return longest;
}

double cpus_of(const std::vector<Suspect>& suspects) {
  return std::accumulate(suspects.begin(), suspects.end(), 0.0,
                         [](double sum, const Suspect& suspect) { return sum + suspect.usage; });
}

// Returns the waits that arise because the container has more runnable threads than CPUs that it may use. These waits
// are its own fault.
double surplus_of(const CpuWindow& window) {
  return std::min(window.self, std::max(0.0, window.run + window.wait - window.usable_cpus));
}

// Returns the displaced part of the waits behind own threads that are not surplus. In these waits, the container's
// threads did not use all allowed CPUs. Some of these CPUs ran other containers, and some were idle. Others cause the
// displaced part, in proportion to their use of these CPUs.
double displaced_of(const CpuWindow& window, double surplus) {
  const double used = cpus_of(window.neighbours);
  // The quotient is at most 1, so the displaced part is not larger than the waits.
  return used > 0 ? (window.self - surplus) * (used / (used + window.idle)) : 0;
}

void charge_displaced(std::vector<Suspect>& suspects, double displaced, const std::vector<Suspect>& neighbours) {
  const double used = cpus_of(neighbours);
  for (const Suspect& neighbour : neighbours) {
    Suspect& suspect = suspect_in(suspects, neighbour.kind, neighbour.subject);
    if (suspect.waited == 0) suspect.usage = neighbour.usage;
    suspect.waited += displaced * neighbour.usage / used;
  }
}

// Returns the part of the throttled time that the other sharers of a quota cause, in proportion to their CPU usage.
double throttled_by_sharers(const CpuWindow& window) {
  const double used = cpus_of(window.sharers);
  return used > 0 ? window.throttled_above * used / (window.run + used) : 0;
}

void judge_throttled(Finding& finding, const CpuWindow& window, double by_sharers, const CpuRule& rule) {
  if (!window.is_quota_known) return;
  if (by_sharers <= finding.throttled) {
    finding.kind = Kind::self_quota;
    finding.statistic = {"throttled", window.throttled, 0, rule.throttled};
    return;
  }
  finding.kind = Kind::shared_parent;
  finding.statistic = {"throttled_by_others", by_sharers, 0, rule.throttled};
  finding.method = Method::estimated;
  const double used = cpus_of(window.sharers);
  for (const Suspect& sharer : window.sharers) {
    if (sharer.usage <= 0) continue;
    Suspect& suspect = suspect_in(finding.suspects, sharer.kind, sharer.subject);
    suspect.usage = sharer.usage;
    suspect.waited += by_sharers * sharer.usage / used;
  }
  sort_by_wait(finding.suspects);
}

}  // namespace

Finding judge(const CpuWindow& window, double quiet, const CpuRule& rule) {
  Finding finding;
  finding.suspects = window.others;
  const double by_sharers = throttled_by_sharers(window);
  finding.throttled = window.throttled - by_sharers;
  finding.unexplained = window.unexplained;
  const double surplus = surplus_of(window), displaced = displaced_of(window, surplus);
  finding.self = window.self - displaced;
  if (displaced > 0) {
    charge_displaced(finding.suspects, displaced, window.neighbours);
    if (displaced > rule.estimated * (window.self + sum_of_waits(window.others))) finding.method = Method::estimated;
  }
  sort_by_wait(finding.suspects);

  const double others = sum_of_waits(finding.suspects);
  const double all_waits = others + finding.self + finding.unexplained;
  finding.held_up_by_others = all_waits > 0 ? window.held_up * others / all_waits : 0;
  const double threshold = std::max(rule.held_up, rule.over_quiet * quiet);
  finding.statistic = {"held_up_by_others", finding.held_up_by_others, quiet, threshold};

  const bool busy = is_busy(window, finding.self, rule);
  // A thread that never sleeps loses time in every wait. So the short waits are distributed like the long ones.
  const double foreign = busy && all_waits > 0 ? others * std::max(1.0, window.wait / all_waits) : others;
  if (window.throttled >= rule.throttled && window.throttled >= others) {
    judge_throttled(finding, window, by_sharers, rule);
  } else if (surplus > longest_wait(finding.suspects) && window.held_up >= rule.held_up) {
    finding.kind = Kind::self_threads;
    finding.statistic = {"held_up", window.held_up, 0, rule.held_up};
  } else if (!busy && finding.held_up_by_others >= threshold) {
    finding.kind = Kind::interfered;
  } else if (const double lost = foreign > 0 ? foreign / (window.run + foreign) : 0;
             (busy || window.run >= rule.throughput_run) && lost >= rule.lost_throughput) {
    finding.kind = Kind::interfered;
    finding.statistic = {"lost_throughput", lost, 0, rule.lost_throughput};
    if (foreign > (1 + rule.estimated) * others) finding.method = Method::estimated;
  }
  return finding;
}

}  // namespace koord::analysis
