// SPDX-License-Identifier: Apache-2.0
// Baseline: how much a workload is held up in its quiet windows. All windows count, those with interference too,
// because only the verdict knows which they were: so the quiet level is the tenth percentile, which interference does
// not move as long as a tenth of the time is quiet. [one thread at a time]
#pragma once

#include <cstddef>

#include "core/analysis/histogram.hpp"

namespace koord::analysis {

class Baseline {
 public:
  static constexpr double kQuietShare = 0.1;
  static constexpr std::size_t kFewestWindows = 60;  // before that nothing is known
  static constexpr Duration kHalfLife = std::chrono::hours(6);
  static constexpr Buckets kShares{0.0001, 16};  // of time; several threads may wait at once

  void add(Time at, double held_up) {
    ++windows_;
    histogram_.add(held_up, at);
  }
  // 0 while too few windows are known.
  double quiet() const;

 private:
  Histogram histogram_{kShares, kHalfLife};
  std::size_t windows_ = 0;
};

}  // namespace koord::analysis
