// SPDX-License-Identifier: Apache-2.0
#include "core/store/aggregates.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/store/head.hpp"

namespace koord::store {
namespace {

std::uint64_t percent_of(Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::p50:
      return 50;
    case Aggregation::p90:
      return 90;
    case Aggregation::p95:
      return 95;
    case Aggregation::p99:
      return 99;
    default:
      return 0;
  }
}

std::int64_t percentile(std::vector<std::int64_t>& values, std::uint64_t percent) {
  std::size_t below = values.size() * percent / 100;
  auto at = values.begin() + static_cast<std::ptrdiff_t>(below > 0 ? below - 1 : 0);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Returns the average. It sums as double, because a sum of counters in nanoseconds may exceed 64 bits.
double average(const std::vector<std::int64_t>& values) {
  double sum = 0;
  for (std::int64_t value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

double value_of(Aggregation aggregation, Collected& collected, std::int64_t last) {
  std::vector<std::int64_t>& values = collected.values;
  auto units = [&](std::int64_t value) { return from_units(value, collected.resolution); };
  switch (aggregation) {
    case Aggregation::last:
      return units(last);
    case Aggregation::avg:
      return average(values) * collected.resolution;
    case Aggregation::min:
      return units(*std::min_element(values.begin(), values.end()));
    case Aggregation::max:
      return units(*std::max_element(values.begin(), values.end()));
    case Aggregation::count:
      return static_cast<double>(values.size());
    default:
      return units(percentile(values, percent_of(aggregation)));
  }
}

}  // namespace

double from_units(std::int64_t value, double resolution) {
  double per_unit = std::nearbyint(1 / resolution);
  bool decimal_fraction = resolution < 1 && std::abs(per_unit * resolution - 1) < 1e-12;
  return decimal_fraction ? static_cast<double>(value) / per_unit : static_cast<double>(value) * resolution;
}

AggregateRow aggregate(Collected& collected, std::span<const Aggregation> aggregations) {
  AggregateRow row;
  row.count = collected.values.size();
  row.from = from_ms(collected.first_ms);
  row.to = from_ms(collected.last_ms);
  row.values.reserve(aggregations.size());
  std::int64_t last = collected.values.back();
  for (Aggregation aggregation : aggregations) row.values.push_back(value_of(aggregation, collected, last));
  return row;
}

}  // namespace koord::store
