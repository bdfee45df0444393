// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/histogram.hpp"

#include <numeric>

namespace koord::latency {
namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr double kSecondsPerUs = 1e-6;

double lower_bound_us(std::size_t bucket) {
  return bucket == 0 ? 0 : static_cast<double>(std::uint64_t{1} << (bucket - 1));
}

double upper_bound_us(std::size_t bucket) { return static_cast<double>(std::uint64_t{1} << bucket); }

bool went_back(const Histogram& before, const Histogram& now) { return now.count < before.count; }

// Returns the difference, but never less than 0: the sum and the buckets of a CPU are not read at the same time, so a
// sum may lag by one delay.
std::uint64_t minus(std::uint64_t now, std::uint64_t before) { return now > before ? now - before : 0; }

}  // namespace

Histogram& Histogram::operator+=(const Histogram& other) {
  count += other.count;
  sum_ns += other.sum_ns;
  for (std::size_t i = 0; i < kBuckets; ++i) buckets[i] += other.buckets[i];
  return *this;
}

Histogram added(const Histogram& before, const Histogram& now) {
  if (went_back(before, now)) return now;
  Histogram difference;
  difference.count = now.count - before.count;
  difference.sum_ns = minus(now.sum_ns, before.sum_ns);
  for (std::size_t i = 0; i < kBuckets; ++i) difference.buckets[i] = minus(now.buckets[i], before.buckets[i]);
  return difference;
}

std::optional<double> quantile_seconds(const Histogram& histogram, double p) {
  const std::uint64_t in_buckets =
      std::accumulate(histogram.buckets.begin(), histogram.buckets.end(), std::uint64_t{0});
  if (in_buckets == 0) return std::nullopt;
  const double rank = p * static_cast<double>(in_buckets);
  double below = 0;
  std::size_t last_used = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (histogram.buckets[i] == 0) continue;
    last_used = i;
    const double inside = static_cast<double>(histogram.buckets[i]);
    if (below + inside < rank) {
      below += inside;
      continue;
    }
    if (i == kBuckets - 1) break;
    const double share = (rank - below) / inside;
    return (lower_bound_us(i) + share * (upper_bound_us(i) - lower_bound_us(i))) * kSecondsPerUs;
  }
  return lower_bound_us(last_used) * kSecondsPerUs;
}

std::optional<double> mean_seconds(const Histogram& histogram) {
  if (histogram.count == 0) return std::nullopt;
  return static_cast<double>(histogram.sum_ns) * kSecondsPerNs / static_cast<double>(histogram.count);
}

double sum_seconds(const Histogram& histogram) { return static_cast<double>(histogram.sum_ns) * kSecondsPerNs; }

std::vector<double> exported_bounds_seconds() {
  std::vector<double> bounds;
  for (std::size_t n = 1; n <= kExportedBounds; ++n) bounds.push_back(upper_bound_us(2 * n) * kSecondsPerUs);
  return bounds;
}

std::vector<std::uint64_t> exported_cumulative(const Histogram& histogram) {
  std::vector<std::uint64_t> cumulative;
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    so_far += histogram.buckets[i];
    const bool is_bound = i > 0 && i % 2 == 0 && i / 2 <= kExportedBounds;
    if (is_bound) cumulative.push_back(so_far);
  }
  cumulative.push_back(so_far);
  return cumulative;
}

}  // namespace koord::latency
