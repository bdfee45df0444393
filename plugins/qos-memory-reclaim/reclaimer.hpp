// SPDX-License-Identifier: Apache-2.0
// Reclaimer: how much of one pod's page cache the kernel should reclaim now, judged by the cost for the pod before.
// Little at first and more while it costs nothing; nothing for a while when the pod stalls, or reads reclaimed pages
// again.
//
// Two ideas are from Weiner et al., TMO: Transparent Memory Offloading in Datacenters (ASPLOS 2022), and its program
// Senpai: stalls (PSI) show how much memory a workload needs, and reclaiming slows down towards a ceiling of stalls.
// The rule is ours:
//
//   step = page cache · rate · (1 − stalled / ceiling)       once a window
//   rate: 0.1 % at first, 1.25 times as much after each step that cost nothing, at most 1 %
//
// A plain value, no clock and no host.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace koord::memory_reclaim {

struct Settings {
  double pressure_percent = 1;  // of the time: the ceiling of stalls for lack of memory
  double refault_percent = 20;  // of what was taken: how much may come back within a window
};

// Totals and amounts at one moment; nothing: not known.
struct Reading {
  std::optional<std::int64_t> page_cache;  // bytes, active and inactive
  std::optional<std::int64_t> stalled_us;  // `some` of memory.pressure, the total
  std::optional<std::int64_t> refaulted;   // bytes of page cache that were needed again, the total
  std::optional<std::int64_t> cold;        // bytes that have not been touched for minutes, if measured
};

class Reclaimer {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  enum class State {
    unknown,   // its usage or its stalls cannot be read
    learning,  // the first reading
    reclaiming,
    nothing_left,  // too little page cache, or none of it cold
    backing_off,   // it cost too much
  };

  // Bytes to take now; 0: none. Asked once a window.
  std::int64_t want(const Reading& reading, Nanoseconds now, const Settings& settings);
  // The amount that the kernel was asked for, which may be less than wanted, and then the amount reclaimed; nullopt:
  // not permitted (shadow).
  void asked(std::int64_t bytes) { asked_ = bytes; }
  void given(std::optional<std::int64_t> bytes);

  State state() const { return state_; }
  double rate() const { return rate_; }
  // In the last window.
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
