// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.hpp"

#include <algorithm>
#include <ctime>

namespace koord {
namespace {

std::int64_t read_clock(clockid_t id) {
  timespec t;
  ::clock_gettime(id, &t);
  return t.tv_sec * 1'000'000'000ll + t.tv_nsec;
}

}  // namespace

SystemClock::SystemClock(Time not_before, std::optional<Duration> offset) {
  std::int64_t boot = read_clock(CLOCK_BOOTTIME);
  std::int64_t start = offset ? boot + offset->count() : read_clock(CLOCK_REALTIME);
  if (not_before != Time::min()) start = std::max<std::int64_t>(start, not_before.time_since_epoch().count() + 1);
  offset_ = Duration(start - boot);
}

Time SystemClock::now() const { return Time(Duration(read_clock(CLOCK_BOOTTIME)) + offset_); }

std::int64_t SystemClock::wall_ns() const { return read_clock(CLOCK_REALTIME); }

}  // namespace koord
