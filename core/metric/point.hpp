// SPDX-License-Identifier: Apache-2.0
// Values on their way into the registry.
#pragma once

#include <cstddef>
#include <cstdint>

namespace koord::metric {

// Names one use of a series slot: generation << 32 | index. An index is used again, a generation is not, so
// an outdated id is recognised. 0 is no series.
using SeriesId = std::uint64_t;

constexpr std::uint32_t index_of(SeriesId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t generation_of(SeriesId id) { return static_cast<std::uint32_t>(id >> 32); }
constexpr SeriesId make_series_id(std::uint32_t generation, std::uint32_t index) {
  return static_cast<SeriesId>(generation) << 32 | index;
}

// The layout of the plugin ABI's koord_point. NaN means that there is no value this time.
struct Point {
  SeriesId series;
  double value;
};

// `cumulative` holds `count` numbers: one for each bound and one for +Inf, none smaller than the one before.
struct HistogramPoint {
  SeriesId series;
  const std::uint64_t* cumulative;
  std::size_t count;
  double sum;
};

struct RecordSummary {
  std::size_t recorded = 0;
  std::size_t stale = 0;   // their series had ended
  std::size_t absent = 0;  // NaN
};

}  // namespace koord::metric
