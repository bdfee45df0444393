// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-pod-throttled/pod_throttled.hpp"

#include <algorithm>

namespace koord::pod_throttled {

std::optional<double> ThrottleMeter::ratio(const CpuStat& now, std::uint64_t read_ns) {
  if (now.nr_periods == CpuStat::kAbsent || now.nr_throttled == CpuStat::kAbsent) {
    previous_.reset();
    return std::nullopt;
  }
  const std::optional<Reading> previous = previous_;
  previous_ = Reading{now, read_ns};
  if (!previous || read_ns <= previous->t_ns || read_ns - previous->t_ns > max_gap_ns_) return std::nullopt;
  const std::int64_t periods = now.nr_periods - previous->stat.nr_periods;
  const std::int64_t throttled = now.nr_throttled - previous->stat.nr_throttled;
  if (periods < 0 || throttled < 0) return std::nullopt;
  if (periods == 0) return 0.0;
  // The kernel counts a period at its end but a throttling when it happens, so the quotient may be above 1.
  return std::min(static_cast<double>(throttled) / static_cast<double>(periods), 1.0);
}

std::optional<double> throttled_seconds(const CpuStat& stat) {
  if (stat.throttled_ns == CpuStat::kAbsent || stat.nr_periods == CpuStat::kAbsent || stat.nr_periods == 0)
    return std::nullopt;
  return static_cast<double>(stat.throttled_ns) / 1e9;
}

}  // namespace koord::pod_throttled
