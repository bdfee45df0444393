// SPDX-License-Identifier: Apache-2.0
// Baseline: how much a workload is held up in its quiet windows. All windows count, those with interference too,
// because only the verdict knows which they were: so the quiet level is the tenth percentile, which interference does
// not move as long as a tenth of the time is quiet. [one thread at a time]
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/analysis/histogram.hpp"

namespace koord::analysis {

struct BaselineRule {
  double quiet_share = 0.1;                          // the quiet level is this percentile
  std::size_t windows = 60;                          // before that nothing is known
  Duration half_life = std::chrono::hours(6);        // a window so old counts half
  Duration forget_after = std::chrono::hours(24);    // since the last container of the workload ended
  Duration save_interval = std::chrono::minutes(1);  // between two times when all are kept
};

class Baseline {
 public:
  static constexpr Buckets kShares{0.0001, 16};  // of time; several threads may wait at once

  explicit Baseline(const BaselineRule& rule = {}, Buckets buckets = kShares)
      : rule_(rule), buckets_(buckets), histogram_(buckets, rule.half_life) {}

  void add(Time at, double held_up) {
    ++windows_;
    histogram_.add(held_up, at);
  }
  // This many windows at once, of which `weight` counts: those of a saved baseline, or without a value.
  void add_known(Time at, double held_up, double weight, std::size_t windows) {
    windows_ += windows;
    histogram_.add(held_up, at, weight);
  }
  // 0 while too few windows are known.
  double quiet() const;

  // Buckets with how many samples they count for at that time, to keep over restarts.
  using Weights = std::vector<std::pair<std::size_t, double>>;
  Weights weights_at(Time at) const;
  // Adds what was kept. Returns the samples that it has.
  double add_kept(Time at, const Weights& weights, std::size_t windows);

  std::size_t windows() const { return windows_; }
  const Buckets& buckets() const { return buckets_; }
  const Histogram& histogram() const { return histogram_; }

 private:
  BaselineRule rule_;
  Buckets buckets_;
  Histogram histogram_;
  std::size_t windows_ = 0;
};

}  // namespace koord::analysis
