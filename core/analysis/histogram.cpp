// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace koord::analysis {
namespace {

// Weights up to 2^100 are far below the limit of a double.
constexpr int kHalfLivesToReference = 100;

double half_lives(Duration span, Duration half_life) {
  return static_cast<double>(span.count()) / static_cast<double>(half_life.count());
}

// Returns the nearest multiple of the half-life.
Time rounded(Time at, Duration half_life) {
  return Time(at.time_since_epoch() + half_life / 2 - (at.time_since_epoch() + half_life / 2) % half_life);
}

double exponent_of(const Buckets& buckets, double value) {
  return std::log((kGrowth - 1) * value / buckets.first + 1) / std::log(kGrowth);
}

}  // namespace

std::size_t bucket_count(const Buckets& buckets) {
  return static_cast<std::size_t>(std::ceil(exponent_of(buckets, buckets.largest))) + 1;
}

double bucket_start(const Buckets& buckets, std::size_t bucket) {
  return buckets.first * (std::pow(kGrowth, static_cast<double>(bucket)) - 1) / (kGrowth - 1);
}

std::size_t bucket_of(const Buckets& buckets, double value) {
  if (value < buckets.first) return 0;
  const std::size_t last = bucket_count(buckets) - 1;
  return static_cast<std::size_t>(std::min(exponent_of(buckets, value), static_cast<double>(last)));
}

Result<Histogram> Histogram::restore(Buckets buckets, Duration half_life, State state, Time last) {
  double sum = 0;
  for (double weight : state.weights) {
    if (!(weight >= 0 && std::isfinite(weight))) return invalid("a weight is negative or not a number");
    sum += weight;
  }
  if (state.half_life <= Duration::zero()) return invalid("the half-life is not above 0");
  if (state.lowest + state.weights.size() > bucket_count(buckets) || state.lowest > bucket_count(buckets))
    return invalid("there are more buckets than there can be");
  if (state.reference > last + state.half_life) return invalid("its reference time is after its samples");
  if (!std::isfinite(sum) || !(std::abs(state.total - sum) <= 1e-6 * sum))
    return invalid("the weights do not add up to their total");
  Histogram histogram(buckets, half_life);
  histogram.state_ = std::move(state);
  if (histogram.state_.half_life == half_life) return histogram;

  // Converts the weights to the new reference, so that the newest sample weighs as much as a sample added now.
  State& scaled = histogram.state_;
  const Time reference = rounded(last, half_life);
  const double factor =
      std::exp2(half_lives(last - reference, half_life) - half_lives(last - scaled.reference, scaled.half_life));
  for (double& weight : scaled.weights) weight *= factor;
  scaled.total *= factor;
  scaled.reference = reference;
  scaled.half_life = half_life;
  if (!std::isfinite(scaled.total)) return invalid("its newest sample is too far from its reference time");
  return histogram;
}

void Histogram::add(double value, Time at, double samples) {
  if (!std::isfinite(value)) return;
  if (state_.weights.empty()) state_.reference = rounded(at, state_.half_life);
  if (at > state_.reference + kHalfLivesToReference * state_.half_life) move_reference(at);
  const double weight = samples * weight_at(at);
  weight_of(bucket_of(buckets_, std::max(value, 0.0))) += weight;
  state_.total += weight;
}

double Histogram::weight_at(Time at) const { return std::exp2(half_lives(at - state_.reference, state_.half_life)); }

double Histogram::percentile(double share) const {
  const auto counts = [](double weight) { return weight >= kEmptyBucket; };
  const auto& weights = state_.weights;
  const auto lowest = std::find_if(weights.begin(), weights.end(), counts);
  if (lowest == weights.end()) return 0;
  const auto highest = std::find_if(weights.rbegin(), weights.rend(), counts).base() - 1;
  const double enough = share * state_.total;
  auto bucket = lowest;
  for (double sum = *bucket; bucket != highest && sum < enough; sum += *bucket) ++bucket;
  const std::size_t found = state_.lowest + static_cast<std::size_t>(bucket - weights.begin());
  return bucket_start(buckets_, std::min(found + 1, bucket_count(buckets_) - 1));
}

bool Histogram::empty() const {
  return std::none_of(state_.weights.begin(), state_.weights.end(),
                      [](double weight) { return weight >= kEmptyBucket; });
}

double& Histogram::weight_of(std::size_t bucket) {
  auto& weights = state_.weights;
  if (weights.empty()) state_.lowest = bucket;
  if (bucket < state_.lowest) {
    weights.insert(weights.begin(), state_.lowest - bucket, 0.0);
    state_.lowest = bucket;
  }
  if (bucket - state_.lowest >= weights.size()) weights.resize(bucket - state_.lowest + 1);
  return weights[bucket - state_.lowest];
}

void Histogram::move_reference(Time at) {
  const Time reference = rounded(at, state_.half_life);
  const double factor = std::exp2(half_lives(state_.reference - reference, state_.half_life));
  for (double& weight : state_.weights) weight *= factor;
  state_.total *= factor;
  state_.reference = reference;
}

}  // namespace koord::analysis
