// SPDX-License-Identifier: Apache-2.0
#include "core/host/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace koord::host {

Duration tick_phase(Duration period, unsigned nth) {
  // The fractional parts of multiples of the golden ratio are spread evenly for any number of plugins.
  constexpr double kGolden = 0.6180339887498949;
  double whole;
  double part = std::modf(nth * kGolden, &whole);
  Duration spread = std::min<Duration>(period / 10, std::chrono::seconds(1));
  return Duration(static_cast<std::int64_t>(part * static_cast<double>(spread.count())));
}

Duration delay_to_tick(Time now, Duration period, Duration phase) {
  Duration since_multiple = (now.time_since_epoch() - phase) % period;
  Duration delay = period - since_multiple;
  return delay < period / 2 ? delay + period : delay;
}

}  // namespace koord::host
