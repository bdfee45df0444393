// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/baseline.hpp"

namespace koord::analysis {

double Baseline::quiet() const {
  if (windows_ < rule_.windows) return 0;
  const double level = histogram_.percentile(rule_.quiet_share);
  // The first bucket begins at 0, so its level counts as 0.
  return level <= buckets_.first ? 0 : level;
}

Baseline::Weights Baseline::weights_at(Time at) const {
  Weights weights;
  const Histogram::State& state = histogram_.state();
  for (std::size_t i = 0; i < state.weights.size(); ++i) {
    const double weight = state.weights[i] / histogram_.weight_at(at);
    if (weight >= kEmptyBucket) weights.emplace_back(state.lowest + i, weight);
  }
  return weights;
}

double Baseline::add_kept(Time at, const Weights& weights, std::size_t windows) {
  double samples = 0;
  for (const auto& [bucket, weight] : weights) {
    if (weight < kEmptyBucket) continue;
    const double middle = (bucket_start(buckets_, bucket) + bucket_start(buckets_, bucket + 1)) / 2;
    add_known(at, middle, weight, samples > 0 ? 0 : windows);
    samples += weight;
  }
  return samples;
}

}  // namespace koord::analysis
