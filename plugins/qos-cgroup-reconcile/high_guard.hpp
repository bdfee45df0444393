// SPDX-License-Identifier: Apache-2.0
// HighGuard: lowers a container's memory.high to the target of its class, and reverts it if it stalls the container.
//
//  - Distance. memory.high is never set more than a twentieth of the usage, or 256 MiB, below the usage, because the
//    write itself reclaims all memory above the new value. It is lowered step by step, one step each ten seconds.
//  - Watchdog. It acts if the container's tasks stalled for lack of memory (PSI `some`) for more than a set share of
//    the last ten seconds and memory.high is the cause, because the usage has reached it. Then it raises memory.high by
//    10 %, 20 %, 40 % of the usage. If the stalls continue, it reverts memory.high.
//  - Calm. It lowers memory.high again after the stalls have been below half of the share for a time. This time doubles
//    with each subsequent raise, up to one hour. The time and the gap between both shares prevent oscillation.
//
// This is our own rule. The idea that stalls show a container's memory demand better than amounts is from Weiner et
// al., TMO (ASPLOS 2022). A plain value, without clock and host.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace koord::cgroup_reconcile {

struct GuardSettings {
  double pressure_percent = 10;   // maximum share of the time
  std::chrono::seconds calm{60};  // time before memory.high is lowered again after a raise
};

// Readings of the container. nullopt: unknown, which counts neither as calm nor as pressure.
struct HighReading {
  std::optional<std::int64_t> usage;       // bytes
  std::optional<std::int64_t> stalled_us;  // total of `some` in memory.pressure
};

struct HighAim {
  std::int64_t target = 0;            // bytes
  std::optional<std::int64_t> limit;  // limit of the container
  std::int64_t page_size = 4096;
};

class HighGuard {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  enum class State { descending, at_target, raised, released };

  // Returns the next memory.high. nullopt: nothing is known about the container yet. INT64_MAX: reverted, no limit.
  std::optional<std::int64_t> next(const HighAim& aim, const HighReading& reading, Nanoseconds now,
                                   const GuardSettings& settings);

  // Returns whether next() would use a reading now.
  bool is_due(Nanoseconds now) const { return !high_ || now - last_.at >= kWindow; }

  State state() const { return state_; }
  // Returns the stalled share of the last ten seconds of readings.
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
  Nanoseconds calm_needed_{0};  // 0: no recent raise
  int raises_ = 0;              // consecutive raises
};

}  // namespace koord::cgroup_reconcile
