// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/waits.hpp"

namespace koord::latency {

Waits& Waits::operator+=(const Waits& other) {
  Histogram::operator+=(other);
  throttled_ns += other.throttled_ns;
  return *this;
}

Waits added(const Waits& before, const Waits& now) {
  const Histogram& earlier = before;
  Waits difference{added(earlier, now), now.throttled_ns};
  if (now.throttled_ns >= before.throttled_ns) difference.throttled_ns -= before.throttled_ns;
  return difference;
}

}  // namespace koord::latency
