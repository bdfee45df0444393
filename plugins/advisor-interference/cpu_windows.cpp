// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/cpu_windows.hpp"

#include <algorithm>

namespace koord::interference {
namespace {

using analysis::CpuSubject;
using analysis::CpuWindow;
using analysis::Suspect;
using analysis::SuspectKind;

// excess[n] is the excess over 0.25 ms · 2^n.
constexpr std::uint64_t kFirstLevelNs = 250'000;
constexpr std::size_t kOneMillisecond = 2;
// With fewer turns per second a 99th percentile is meaningless.
constexpr double kLeastTurnsPerSecond = 100;

// Returns the share of a container's turns on a CPU that came late, as defined in core/analysis/README.md: late by at
// least 1 ms and by at least half of its run time per turn.
double late_turns(const CpuTimes& times, double seconds) {
  if (times.waits == 0) return 0;
  const std::uint64_t half_turn_ns = times.run / times.waits / 2;
  for (std::size_t level = kOneMillisecond; level + 1 < kExcessLevels; ++level) {
    const std::uint64_t x = kFirstLevelNs << level;
    if (x < half_turn_ns) continue;
    // The program may have increased the second value between the two reads.
    const std::uint64_t longer_ns = std::min(times.excess[level], times.excess[level + 1]);
    const double late = static_cast<double>(times.excess[level] - longer_ns) / static_cast<double>(x);
    return late / std::max(static_cast<double>(times.waits), kLeastTurnsPerSecond * seconds);
  }
  return 0;
}

void add_wait(CpuWindow& window, SuspectKind kind, std::uint64_t subject, double waited, double usage) {
  Suspect& suspect = analysis::suspect_in(window.others, kind, subject);
  suspect.usage = usage;
  suspect.waited += waited;
}

}  // namespace

std::unordered_map<std::uint64_t, CpuTimes> times_by_container(const latency::Windows<CpuTimes>& windows,
                                                               const ContainerOfCgroup& container_of) {
  std::unordered_map<std::uint64_t, CpuTimes> times;
  for (const auto& [cgroup, handle] : container_of) times[handle] += windows.of(cgroup);
  return times;
}

std::unordered_set<std::uint64_t> waiting_for_themselves(const std::vector<Blame>& blames,
                                                         const ContainerOfCgroup& container_of) {
  std::unordered_set<std::uint64_t> handles;
  for (const Blame& blame : blames) {
    const auto victim = container_of.find(blame.victim), culprit = container_of.find(blame.culprit);
    if (victim != container_of.end() && culprit != container_of.end() && victim->second == culprit->second)
      handles.insert(victim->second);
  }
  return handles;
}

std::vector<CpuSubject> cpu_subjects(const std::vector<ContainerTimes>& containers, const std::vector<Blame>& blames,
                                     const ContainerOfCgroup& container_of, double seconds) {
  const auto per_second = [seconds](std::uint64_t ns) { return static_cast<double>(ns) / 1e9 / seconds; };
  std::vector<CpuSubject> subjects;
  std::unordered_map<std::uint64_t, std::size_t> index;
  for (const ContainerTimes& container : containers) {
    index[container.handle] = subjects.size();
    subjects.push_back(
        {container.workload,
         {.subject = container.handle,
          .run = per_second(container.times.run),
          .wait = per_second(container.times.wait),
          .throttled = per_second(container.times.throttled),
          .held_up = per_second(container.times.excess[kOneMillisecond]) + late_turns(container.times, seconds)},
         container.rules});
  }
  for (std::size_t i = 0; i < containers.size(); ++i) {
    CpuWindow& window = subjects[i].window;
    window.is_quota_known = containers[i].is_quota_known;
    window.throttled_above = window.throttled * containers[i].throttled_above;
    for (std::uint64_t sharer : containers[i].sharers)
      if (const auto known = index.find(sharer); known != index.end())
        window.sharers.push_back({SuspectKind::container, sharer, 0, subjects[known->second].window.run});
  }
  for (const Blame& blame : blames) {
    const auto victim = container_of.find(blame.victim);
    const auto at = victim == container_of.end() ? index.end() : index.find(victim->second);
    if (at == index.end()) continue;
    CpuWindow& window = subjects[at->second].window;
    const double waited = per_second(blame.ns);
    const auto culprit = container_of.find(blame.culprit);
    if (blame.occupant == Occupant::kernel) {
      add_wait(window, SuspectKind::kernel, 0, waited, 0);
    } else if (blame.occupant != Occupant::cgroup) {
      window.unexplained += waited;
    } else if (culprit == container_of.end()) {
      add_wait(window, SuspectKind::outside, 0, waited, 0);
    } else if (culprit->second == window.subject) {
      window.self += waited;
    } else {
      const auto known = index.find(culprit->second);
      add_wait(window, SuspectKind::container, culprit->second, waited,
               known == index.end() ? 0 : subjects[known->second].window.run);
    }
  }
  return subjects;
}

}  // namespace koord::interference
