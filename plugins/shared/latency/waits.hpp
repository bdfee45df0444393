// SPDX-License-Identifier: Apache-2.0
// Waits of a cgroup's threads for a CPU, as running totals or for one window. Pure. [any thread]
#pragma once

#include <cstdint>

#include "plugins/shared/latency/histogram.hpp"

namespace koord::latency {

// Waits for a CPU. Time in which a CPU quota stopped the threads is only in `throttled_ns`; a source that cannot
// separate it counts it as waits.
struct Waits : Histogram {
  std::uint64_t throttled_ns = 0;

  bool empty() const { return count == 0 && sum_ns == 0 && throttled_ns == 0; }
  Waits& operator+=(const Waits& other);
  bool operator==(const Waits&) const = default;
};
Waits added(const Waits& before, const Waits& now);

}  // namespace koord::latency
