// SPDX-License-Identifier: Apache-2.0
// Waits of a cgroup's threads for a CPU, as running totals or as those of a window. Pure. [any thread]
#pragma once

#include <cstdint>

#include "plugins/shared/latency/histogram.hpp"

namespace koord::latency {

// Time in which a CPU quota held the threads is in `throttled_ns` only; sources that do not know it have it in the
// waits.
struct Waits : Histogram {
  std::uint64_t throttled_ns = 0;

  bool empty() const { return count == 0 && sum_ns == 0 && throttled_ns == 0; }
  Waits& operator+=(const Waits& other);
  bool operator==(const Waits&) const = default;
};
Waits added(const Waits& before, const Waits& now);

}  // namespace koord::latency
