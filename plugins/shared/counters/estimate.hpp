// SPDX-License-Identifier: Apache-2.0
// Evaluates the counters of one cgroup, one group of them on each CPU. Pure: values in, values out. Formulas:
// perf_event_open(2), "time_enabled" and "time_running" of a group that shares the CPU's counters with others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace koord::performance {

// One group on one CPU over a window. A group counts as a whole: its events have these times in common.
struct GroupReading {
  std::uint64_t enabled_ns = 0;  // while threads of the cgroup ran on this CPU
  std::uint64_t running_ns = 0;  // of that, while the group had counters of the CPU
  std::vector<std::uint64_t> counts = {};
};

// Parses the result of read(2) on a group's leader: its times, then the counts in the order of `ids`. Nothing if it is
// not the reading of a group of exactly these events.
std::optional<GroupReading> parse_group(std::span<const std::uint64_t> words, std::span<const std::uint64_t> ids);

// Returns the difference of two readings of the same groups, CPU by CPU. Nothing: they are of other CPUs or events, or
// the counters began again in between.
std::optional<std::vector<GroupReading>> since(std::span<const GroupReading> now, std::span<const GroupReading> before);

enum class Verdict {
  counted,
  idle,           // no thread of the cgroup ran
  not_scheduled,  // threads ran, and the group had counters on no CPU
  low_ratio,      // it had them for too little of the time to scale what was counted
};

struct Estimate {
  Verdict verdict = Verdict::idle;
  std::optional<double> running_ratio = {};  // Σ running / Σ enabled; nothing when idle
  std::vector<double> counts = {};           // of the whole window; empty unless counted

  // Nothing unless counted.
  std::optional<double> count(std::size_t event) const {
    return verdict == Verdict::counted ? std::optional(counts[event]) : std::nullopt;
  }
};

// CPUs on which the group ran for less than `min_ratio` of the time are ignored. The others' counts are scaled, each by
// its own enabled / running, and then by all time / used time. If the time on ignored CPUs is more than 1/20 of all,
// there are no counts.
Estimate estimate(std::span<const GroupReading> cpus, double min_ratio);

// Nothing when one is not known, or `per` is 0.
std::optional<double> ratio(std::optional<double> value, std::optional<double> per);

}  // namespace koord::performance
