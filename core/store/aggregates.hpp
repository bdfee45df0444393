// SPDX-License-Identifier: Apache-2.0
// Aggregates of the samples of one series. [any thread]
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/store/types.hpp"

namespace koord::store {

// Samples as they are kept: whole multiples of the resolution, in ascending time.
struct Collected {
  double resolution = 1;
  std::vector<std::int64_t> values;
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  std::vector<std::int64_t> times_ms;  // filled only when asked for
};

// 1234 at a resolution of 0.0001 is 0.1234, not 0.12340000000000001.
double from_units(std::int64_t value, double resolution);

// `collected` has at least one sample; its values are reordered. Labels are not filled in.
AggregateRow aggregate(Collected& collected, std::span<const Aggregation> aggregations);

}  // namespace koord::store
