// SPDX-License-Identifier: Apache-2.0
// The rate of a counter that only grows. Over a gap (suspend, a stuck reader) or a reset there is no rate: it is
// dropped, never invented. Pure; every rate in the agent comes from here.
#pragma once

#include <cstdint>
#include <optional>

namespace koord {

struct CounterReading {
  std::int64_t value = 0;
  std::uint64_t t_ns = 0;  // host time at which it was read
};

class CounterRate {
 public:
  // Readings further apart than `max_gap_ns` give no rate.
  explicit CounterRate(std::uint64_t max_gap_ns) : max_gap_ns_(max_gap_ns) {}

  // The growth per nanosecond since the reading before; nullopt at the first, after a gap, after a reset.
  std::optional<double> update(CounterReading now) {
    std::optional<CounterReading> previous = previous_;
    previous_ = now;
    if (!previous || now.t_ns <= previous->t_ns || now.value < previous->value) return std::nullopt;
    std::uint64_t elapsed = now.t_ns - previous->t_ns;
    if (elapsed > max_gap_ns_) return std::nullopt;
    return static_cast<double>(now.value - previous->value) / static_cast<double>(elapsed);
  }

 private:
  std::uint64_t max_gap_ns_;
  std::optional<CounterReading> previous_;
};

}  // namespace koord
