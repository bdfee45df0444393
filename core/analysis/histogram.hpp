// SPDX-License-Identifier: Apache-2.0
// Histogram: how often which amount was used, where a sample counts half of one that is a half-life younger. The scheme
// of Kubernetes' vertical pod autoscaler: buckets that grow by a fixed ratio; a sample of time t weighs 2^((t -
// reference) / half-life), so that nothing has to be decayed but, each 100 half-lives, all weights at once. Formulas in
// core/predict/README.md. Times are host times: a step of the wall clock does not age anything. Only buckets between
// the lowest and the highest that was hit take memory, 8 bytes each. A plain value.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::analysis {

// Limits of the buckets: [0, first), then each as wide as the one before it times kGrowth, up to `largest`.
struct Buckets {
  double first = 0;    // width of the first one
  double largest = 0;  // the last one holds this and all above
};
inline constexpr double kGrowth = 1.05;

// A bucket that weighs less than this is empty.
inline constexpr double kEmptyBucket = 1e-4;

std::size_t bucket_count(const Buckets& buckets);
double bucket_start(const Buckets& buckets, std::size_t bucket);
std::size_t bucket_of(const Buckets& buckets, double value);

class Histogram {
 public:
  // State to save and restore.
  struct State {
    Time reference;
    Duration half_life{};
    double total = 0;
    std::size_t lowest = 0;       // the bucket that weights[0] is of
    std::vector<double> weights;  // up to the highest one that was hit

    bool operator==(const State&) const = default;
  };

  Histogram(Buckets buckets, Duration half_life) : buckets_(buckets) { state_.half_life = half_life; }

  // `last`: the time of the newest sample. A state of another half-life is converted and goes on from there. Rejected:
  // weights that no samples could have made.
  static Result<Histogram> restore(Buckets buckets, Duration half_life, State state, Time last);

  // A value below 0 counts as 0; one that is not finite is left out. `weight`: > 0, counts as this many samples.
  void add(double value, Time at, double weight = 1);

  // The amount that `share` (0…1) of the weight does not exceed: the end of the bucket in which that share is reached.
  // 0 when it is empty.
  double percentile(double share) const;
  bool empty() const;

  // Returns the weight of a sample of this time.
  double weight_at(Time at) const;

  // Everything was earlier by this.
  void move_back(Duration by) { state_.reference -= by; }

  const State& state() const { return state_; }

 private:
  double& weight_of(std::size_t bucket);
  void move_reference(Time at);

  Buckets buckets_;
  State state_;
};

}  // namespace koord::analysis
