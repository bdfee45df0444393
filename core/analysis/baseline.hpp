// SPDX-License-Identifier: Apache-2.0
// Baseline: how much a workload is held up in its quiet windows. All windows count, including windows with
// interference, because only the verdict shows which windows had interference. Therefore the quiet level is the tenth
// percentile, which interference does not change if a tenth of the time is quiet. [one thread at a time]
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/analysis/histogram.hpp"

namespace koord::analysis {

struct BaselineRule {
  double quiet_share = 0.1;                          // the quiet level is this percentile
  std::size_t windows = 60;                          // the level is unknown before this many windows
  Duration half_life = std::chrono::hours(6);        // a window of this age counts half
  Duration forget_after = std::chrono::hours(24);    // a workload is forgotten this long after its last container ended
  Duration save_interval = std::chrono::minutes(1);  // time between two saves of all baselines
};

class Baseline {
 public:
  static constexpr Buckets kShares{0.0001, 16};  // shares of time; above 1 if several threads wait at the same time

  explicit Baseline(const BaselineRule& rule = {}, Buckets buckets = kShares)
      : rule_(rule), buckets_(buckets), histogram_(buckets, rule.half_life) {}

  void add(Time at, double held_up) {
    ++windows_;
    histogram_.add(held_up, at);
  }
  // Adds several windows in one call, which count as `weight` windows: windows of a saved baseline, or windows without
  // a value.
  void add_known(Time at, double held_up, double weight, std::size_t windows) {
    windows_ += windows;
    histogram_.add(held_up, at, weight);
  }
  // Returns the quiet level; 0 while too few windows are known.
  double quiet() const;

  // Buckets, each with the number of samples that it counts for at a time. Used to save the baseline.
  using Weights = std::vector<std::pair<std::size_t, double>>;
  Weights weights_at(Time at) const;
  // Adds saved buckets. Returns the number of their samples.
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
