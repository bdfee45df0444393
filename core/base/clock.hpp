// SPDX-License-Identifier: Apache-2.0
// Time. The agent measures intervals on *host time*: nanoseconds that advance with CLOCK_BOOTTIME (suspend
// included), start near the Unix epoch's count and never step, whatever happens to the wall clock. Host time is
// comparable across restarts of the agent, since it never starts before the newest sample of the metric cache, and
// keeps its distance from CLOCK_BOOTTIME until the node boots again (core/agentd/host_time.hpp). Wall time is a label
// only. Clocks are passed in; a test passes core/base/manual_clock.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace koord {

using Duration = std::chrono::nanoseconds;

struct HostClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<HostClock, duration>;
  static constexpr bool is_steady = true;
};
using Time = HostClock::time_point;

inline std::uint64_t to_ns(Time t) { return static_cast<std::uint64_t>(t.time_since_epoch().count()); }
inline Time from_ns(std::uint64_t ns) { return Time(Duration(static_cast<std::int64_t>(ns))); }
// So much later, or the last time that there is.
inline Time later(Time t, Duration by) { return by < Time::max() - t ? t + by : Time::max(); }

// [any thread]
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
  // CLOCK_REALTIME, ns since the Unix epoch; steps when the system clock is set.
  virtual std::int64_t wall_ns() const = 0;

  // The wall time to print for a host time: exact for the recent past, also after the wall clock stepped.
  std::int64_t wall_label_ns(Time t) const { return wall_ns() + (t - now()).count(); }
};

// The real clock. `not_before`: the newest host time that a previous run recorded. `offset`: the offset() of a previous
// run in the same boot of the node; without it host time starts at the wall clock's.
class SystemClock final : public Clock {
 public:
  explicit SystemClock(Time not_before = Time::min(), std::optional<Duration> offset = std::nullopt);
  Time now() const override;
  std::int64_t wall_ns() const override;
  Duration offset() const { return offset_; }  // of host time from CLOCK_BOOTTIME

 private:
  Duration offset_;
};

}  // namespace koord
