// SPDX-License-Identifier: Apache-2.0
// Reclaimer: how much of a pod's page cache the kernel should reclaim now, judged by the cost of previous steps. It
// begins with small steps and increases them while they cost nothing. It pauses when the pod stalls or reads reclaimed
// pages again.
//
// Two ideas are from Weiner et al., TMO: Transparent Memory Offloading in Datacenters (ASPLOS 2022), and its program
// Senpai: stalls (PSI) show how much memory a workload needs, and reclaiming slows down near a limit of stalls. The
// rule is ours:
//
//   step = page cache · rate · (1 − stalled / limit)         once a window
//   rate: 0.1 % at first, 1.25 times as much after each step without cost, at most 1 %
//
// A plain value, without clock and host.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace koord::memory_reclaim {

struct Settings {
  double pressure_percent = 1;  // maximum of stalls for lack of memory, percent of the time
  double refault_percent = 20;  // maximum of refaults within a window, percent of the reclaimed bytes
};

// Totals and amounts at one moment; nullopt: unknown.
struct Reading {
  std::optional<std::int64_t> page_cache;  // bytes, active and inactive
  std::optional<std::int64_t> stalled_us;  // total of `some` in memory.pressure
  std::optional<std::int64_t> refaulted;   // total of refaulted page cache in bytes
  std::optional<std::int64_t> cold;        // bytes that have not been accessed for minutes, if measured
};

class Reclaimer {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  enum class State {
    unknown,   // its usage or its stalls are unreadable
    learning,  // the first reading
    reclaiming,
    nothing_left,  // too little page cache, or none of it cold
    backing_off,   // the last step had too high a cost
  };

  // Returns the bytes to reclaim now; 0: none. Call it once in each window.
  std::int64_t want(const Reading& reading, Nanoseconds now, const Settings& settings);
  // asked() reports the amount requested from the kernel, which may be less than wanted. given() reports the amount
  // that was reclaimed. nullopt: not permitted (shadow mode).
  void asked(std::int64_t bytes) { asked_ = bytes; }
  void given(std::optional<std::int64_t> bytes);

  State state() const { return state_; }
  double rate() const { return rate_; }
  // Stalled percentage of the last window.
  double stalled_percent() const { return stalled_percent_; }
  std::int64_t refaulted() const { return refaulted_; }

 private:
  struct Sample {
    Nanoseconds at;
    std::int64_t stalled_us, refaulted;
  };

  bool cost_too_much(const Settings& settings) const;
  void back_off(Nanoseconds now);
  void speed_up(Nanoseconds now, const Settings& settings);

  static constexpr double kLeastRate = 0.001;

  State state_ = State::unknown;
  std::optional<Sample> last_;
  double rate_ = kLeastRate;
  double stalled_percent_ = 0;
  std::int64_t refaulted_ = 0;
  std::int64_t asked_ = 0;
  std::optional<std::int64_t> given_;
  Nanoseconds pause_{0}, resumes_at_{0};
};

}  // namespace koord::memory_reclaim
