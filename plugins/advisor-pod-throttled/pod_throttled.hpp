// SPDX-License-Identifier: Apache-2.0
// How much a CPU quota holds one cgroup back. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <optional>

namespace koord::pod_throttled {

// Content of the logical cgroup file cpu.stat: running totals of the cgroup's own quota, not of those above or below
// it. kAbsent if the kernel has no such key.
struct CpuStat {
  static constexpr std::int64_t kAbsent = INT64_MIN;
  std::int64_t nr_periods = kAbsent;    // periods of the quota in which the cgroup wanted to run
  std::int64_t nr_throttled = kAbsent;  // of these, those in which it used its quota up
  std::int64_t throttled_ns = kAbsent;  // for how long its run queues stood still, summed over the CPUs
};

class ThrottleMeter {
 public:
  // Readings further apart than `max_gap_ns` have no ratio.
  explicit ThrottleMeter(std::uint64_t max_gap_ns) : max_gap_ns_(max_gap_ns) {}

  // The share of the periods since the reading before in which the cgroup was throttled, 0…1. No period has
  // passed when it has no quota or did not want to run: that is 0, nothing held it back. Nothing at first,
  // after a gap or a reset.
  std::optional<double> ratio(const CpuStat& now, std::uint64_t read_ns);

 private:
  struct Reading {
    CpuStat stat;
    std::uint64_t t_ns;
  };

  std::uint64_t max_gap_ns_;
  std::optional<Reading> previous_;
};

// Returns the running total in seconds. Nothing for a cgroup that never had a quota.
std::optional<double> throttled_seconds(const CpuStat& stat);

}  // namespace koord::pod_throttled
