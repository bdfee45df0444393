// SPDX-License-Identifier: Apache-2.0
// Histogram: the distribution of samples with decay. A sample counts half as much as a sample that is one half-life
// younger. It uses the scheme of Kubernetes' vertical pod autoscaler. Bucket widths grow by a fixed ratio. A sample of
// time t weighs 2^((t - reference) / half-life), so existing weights do not decay; only every 100 half-lives all
// weights are scaled. The formulas are in core/predict/README.md. Times are host times, so a step of the wall clock
// does not change the age of samples. Only buckets between the lowest and the highest used one need memory, 8 bytes
// each. A plain value.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::analysis {

// The limits of the buckets: [0, first), then each is kGrowth times as wide as the previous one, up to `largest`.
struct Buckets {
  double first = 0;    // width of the first bucket
  double largest = 0;  // the last bucket begins here or above, and contains all greater values
};
inline constexpr double kGrowth = 1.05;

// A bucket with a smaller weight is empty.
inline constexpr double kEmptyBucket = 1e-4;

std::size_t bucket_count(const Buckets& buckets);
double bucket_start(const Buckets& buckets, std::size_t bucket);
std::size_t bucket_of(const Buckets& buckets, double value);

class Histogram {
 public:
  // The state to save and restore.
  struct State {
    Time reference;
    Duration half_life{};
    double total = 0;
    std::size_t lowest = 0;       // index of the bucket of weights[0]
    std::vector<double> weights;  // up to the highest used bucket

    bool operator==(const State&) const = default;
  };

  Histogram(Buckets buckets, Duration half_life) : buckets_(buckets) { state_.half_life = half_life; }

  // Restores a saved state. `last`: the time of the newest sample. Converts a state with a different half-life. Fails
  // if no samples could have produced the weights.
  static Result<Histogram> restore(Buckets buckets, Duration half_life, State state, Time last);

  // Adds a sample. A negative value counts as 0; a value that is not finite is ignored. `weight` (> 0): counts as this
  // many samples.
  void add(double value, Time at, double weight = 1);

  // Returns the value that `share` (0…1) of the weight does not exceed: the end of the bucket where that share is
  // reached; 0 if the histogram is empty.
  double percentile(double share) const;
  bool empty() const;

  // Returns the weight of a sample of this time.
  double weight_at(Time at) const;

  // Moves all samples to an earlier time.
  void move_back(Duration by) { state_.reference -= by; }

  const State& state() const { return state_; }

 private:
  double& weight_of(std::size_t bucket);
  void move_reference(Time at);

  Buckets buckets_;
  State state_;
};

}  // namespace koord::analysis
