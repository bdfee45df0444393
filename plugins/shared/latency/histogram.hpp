// SPDX-License-Identifier: Apache-2.0
// Durations as plain values: histograms of delays, the differences between two readings of running totals, and
// quantiles. Pure: no clock, no files, no kernel. [any thread]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace koord::latency {

// Bucket 0: less than 1 µs. Bucket n: [2^(n-1), 2^n) µs. The last: everything from 2^24 µs (16.8 s) up.
inline constexpr std::size_t kBuckets = 26;

struct Histogram {
  std::uint64_t count = 0;
  std::uint64_t sum_ns = 0;
  // All zero if the source has only count and sum.
  std::array<std::uint64_t, kBuckets> buckets{};

  bool empty() const { return count == 0; }
  Histogram& operator+=(const Histogram& other);
  bool operator==(const Histogram&) const = default;
};

// Returns the difference between two readings of one running total. If the count decreased, the total was reset, and
// the whole new total is returned.
Histogram added(const Histogram& before, const Histogram& now);

// Returns the delay that a share `p` of the delays did not exceed, by linear interpolation inside its bucket. In the
// last, open bucket it returns the lower bound. Returns nullopt if the histogram has no delays or no buckets.
std::optional<double> quantile_seconds(const Histogram& histogram, double p);
std::optional<double> mean_seconds(const Histogram& histogram);
double sum_seconds(const Histogram& histogram);

// The exported bounds are every second bound, 4^n µs. This is fine enough for a graph and halves the number of series.
inline constexpr std::size_t kExportedBounds = 12;
std::vector<double> exported_bounds_seconds();
// Returns the numbers of delays up to each of these bounds, and at the end the number of all delays.
std::vector<std::uint64_t> exported_cumulative(const Histogram& histogram);

}  // namespace koord::latency
