// SPDX-License-Identifier: Apache-2.0
// Latency: a histogram of durations of up to a second. [one thread at a time]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/clock.hpp"

namespace koord {

class Latency {
 public:
  // Upper bounds in seconds; what is longer is in one bucket more.
  static constexpr std::array<double, 13> kBounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                     0.025,  0.05,    0.1,    0.2,   0.5,    1};

  void add(Duration duration);

  std::uint64_t count() const { return count_; }
  double sum_seconds() const { return sum_seconds_; }
  // Durations within bound `i`, those of lower bounds included.
  std::uint64_t cumulative(std::size_t i) const;
  // The lowest bound that this share of the durations stays within; the highest bound if less than this
  // share stays within it. Zero without durations.
  double quantile(double share) const;

 private:
  std::array<std::uint64_t, kBounds.size() + 1> buckets_{};
  std::uint64_t count_ = 0;
  double sum_seconds_ = 0;
};

}  // namespace koord
