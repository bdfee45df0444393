// SPDX-License-Identifier: Apache-2.0
// Evaluates the counters of one cgroup, which has one group of events on each CPU. Pure: values in, values out. For the
// formulas see perf_event_open(2), "time_enabled" and "time_running": a group shares the CPU's counters with others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace koord::performance {

// Times and counts of one group on one CPU over a window. The kernel schedules a group as a whole, so its events share
// these times.
struct GroupReading {
  std::uint64_t enabled_ns = 0;  // time in which threads of the cgroup ran on this CPU
  std::uint64_t running_ns = 0;  // part of that time in which the group had counters of the CPU
  std::vector<std::uint64_t> counts = {};
};

// Parses the result of read(2) on a group's leader: its times, then the counts in the order of `ids`. Returns nullopt
// if the result is not a reading of a group of exactly these events.
std::optional<GroupReading> parse_group(std::span<const std::uint64_t> words, std::span<const std::uint64_t> ids);

// Returns the difference of two readings of the same groups, CPU by CPU. Returns nullopt if the readings have different
// CPUs or events, or if the counters restarted in between.
std::optional<std::vector<GroupReading>> since(std::span<const GroupReading> now, std::span<const GroupReading> before);

enum class Verdict {
  counted,
  idle,           // no thread of the cgroup ran
  not_scheduled,  // threads ran, but the group never had counters on any CPU
  low_ratio,      // the group had counters for too little of the time to scale the counts
};

struct Estimate {
  Verdict verdict = Verdict::idle;
  std::optional<double> running_ratio = {};  // Σ running / Σ enabled; nullopt if nothing ran
  std::vector<double> counts = {};           // counts of the whole window; empty if the verdict is not `counted`

  // Returns nullopt if the verdict is not `counted`.
  std::optional<double> count(std::size_t event) const {
    return verdict == Verdict::counted ? std::optional(counts[event]) : std::nullopt;
  }
};

// Estimates the counts of the whole window. A CPU on which the group had counters for less than `min_ratio` of the time
// is ignored. The counts of each other CPU are scaled by its own enabled / running. Their sum is scaled by time on all
// CPUs / time on used CPUs. If ignored CPUs have more than 1/20 of the time, the result has no counts.
Estimate estimate(std::span<const GroupReading> cpus, double min_ratio);

// Returns the quotient, or nullopt if a value is unknown or `per` is 0.
std::optional<double> ratio(std::optional<double> value, std::optional<double> per);

}  // namespace koord::performance
