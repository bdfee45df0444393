// SPDX-License-Identifier: Apache-2.0
// Computes how much a CPU quota throttles a cgroup. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <optional>

namespace koord::pod_throttled {

// Content of the logical cgroup file cpu.stat. The values are running totals of the cgroup's own quota; the quotas of
// ancestors and descendants do not count. kAbsent: the kernel has no such key.
struct CpuStat {
  static constexpr std::int64_t kAbsent = INT64_MIN;
  std::int64_t nr_periods = kAbsent;    // periods of the quota in which the cgroup had work
  std::int64_t nr_throttled = kAbsent;  // periods in which it used up its quota
  std::int64_t throttled_ns = kAbsent;  // time for which its run queues were stopped, summed over the CPUs
};

class ThrottleMeter {
 public:
  // Readings more than `max_gap_ns` apart have no ratio.
  explicit ThrottleMeter(std::uint64_t max_gap_ns) : max_gap_ns_(max_gap_ns) {}

  // Returns the share of the periods since the previous reading in which the cgroup was throttled, 0…1. Without periods
  // the ratio is 0: the cgroup has no quota or had no work, so it was not throttled. nullopt for the first reading,
  // after a gap and after a reset.
  std::optional<double> ratio(const CpuStat& now, std::uint64_t read_ns);

 private:
  struct Reading {
    CpuStat stat;
    std::uint64_t t_ns;
  };

  std::uint64_t max_gap_ns_;
  std::optional<Reading> previous_;
};

// Returns the running total in seconds; nullopt for a cgroup that never had a quota.
std::optional<double> throttled_seconds(const CpuStat& stat);

}  // namespace koord::pod_throttled
