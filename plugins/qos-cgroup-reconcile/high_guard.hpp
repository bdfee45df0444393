// SPDX-License-Identifier: Apache-2.0
// HighGuard: brings one container's memory.high down to what its class asks for without choking it, and lets go when it
// does.
//
//  - Distance. memory.high is never set more than a twentieth of the memory in use, and at most 256 MiB, below that
//    memory: the kernel reclaims at once what is above it, within the write. From there it comes down step by step, one
//    each ten seconds.
//  - Watchdog. It acts when the container's tasks stalled for lack of memory (PSI `some`) for more than a set share of
//    the last ten seconds, and memory.high is the cause because the memory in use has reached it. Then it raises
//    memory.high by 10 %, 20 %, 40 % of the memory in use. If the stalls go on, it reverts memory.high.
//  - Calm. It goes down again when the stalls have been below half of the share for a time, which doubles with each
//    raise that follows and is one hour in the end. That, and the gap between the two shares, keeps it from going to
//    and fro.
//
// Our own rule. The idea that stalls show better than amounts how much memory a container needs is from Weiner et al.,
// TMO (ASPLOS 2022). A plain value, no clock and no host.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace koord::cgroup_reconcile {

struct GuardSettings {
  double pressure_percent = 10;   // of the time
  std::chrono::seconds calm{60};  // before the first descent after a raise
};

// Readings of the container; nothing: unknown, which is neither calm nor pressure.
struct HighReading {
  std::optional<std::int64_t> usage;       // bytes
  std::optional<std::int64_t> stalled_us;  // `some` of memory.pressure, the total
};

struct HighAim {
  std::int64_t target = 0;            // bytes
  std::optional<std::int64_t> limit;  // of the container
  std::int64_t page_size = 4096;
};

class HighGuard {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  enum class State { descending, at_target, raised, released };

  // The next memory.high; nullopt: the container is unknown yet. INT64_MAX: reverted, no limit.
  std::optional<std::int64_t> next(const HighAim& aim, const HighReading& reading, Nanoseconds now,
                                   const GuardSettings& settings);

  // Would next() make anything of a reading now?
  bool is_due(Nanoseconds now) const { return !high_ || now - last_.at >= kWindow; }

  State state() const { return state_; }
  // In the last ten seconds of readings.
  std::optional<double> stalled_percent() const { return stalled_percent_; }

 private:
  static constexpr Nanoseconds kWindow = std::chrono::seconds(10);

  struct Sample {
    Nanoseconds at;
    std::optional<std::int64_t> stalled_us;
  };

  void begin(const HighAim& aim, const HighReading& reading, Nanoseconds now);
  void adjust(const HighAim& aim, const HighReading& reading, Nanoseconds now, const GuardSettings& settings);
  void raise(const HighAim& aim, std::int64_t usage, const GuardSettings& settings);
  void descend(const HighAim& aim, std::int64_t usage);
  void arrive(Nanoseconds now, const GuardSettings& settings);

  State state_ = State::descending;
  std::optional<std::int64_t> high_;
  Sample last_{};
  std::optional<double> stalled_percent_;
  std::optional<Nanoseconds> calm_since_;
  Nanoseconds calm_needed_{0};  // 0: it was not raised lately
  int raises_ = 0;              // in a row
};

}  // namespace koord::cgroup_reconcile
