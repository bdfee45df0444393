// SPDX-License-Identifier: Apache-2.0
// What one cgroup, of a pod or a container, uses. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/counter_rate.hpp"

namespace koord::pod_resource {

// Of the logical cgroup file memory.stat, in bytes, over the whole subtree; kAbsent where the kernel has no such key.
struct MemoryStat {
  static constexpr std::int64_t kAbsent = INT64_MIN;
  std::int64_t inactive_anon = kAbsent, active_anon = kAbsent, unevictable = kAbsent;
};

// Memory that the cgroup cannot give back without swapping: inactive_anon + active_anon + unevictable. Page cache and
// slab are left out, as in koordlet. Unknown when a part is.
std::optional<double> memory_usage_bytes(const MemoryStat& stat);

// CPU of one cgroup from its cumulative usage in ns.
class CpuMeter {
 public:
  explicit CpuMeter(std::uint64_t max_gap_ns) : rate_(max_gap_ns) {}

  // ns of CPU per ns of time, which is cores; nothing at first, after a gap or a reset.
  std::optional<double> cores(std::int64_t usage_ns, std::uint64_t read_ns) { return rate_.update({usage_ns, read_ns}); }

 private:
  CounterRate rate_;
};

}  // namespace koord::pod_resource
