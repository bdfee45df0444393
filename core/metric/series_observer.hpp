// SPDX-License-Identifier: Apache-2.0
// How the metric cache hears of series and samples. The registry calls its one observer with its lock held
// and in the order of events, from whichever thread records; the observer must not call back, and never
// blocks on a disk. A histogram is two counters here, `<name>_count` and `<name>_sum`, each with an index of
// its own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/metric/desc.hpp"
#include "core/metric/labels.hpp"
#include "core/metric/point.hpp"

namespace koord::metric {

// A series as others see it; the references are valid during the call that hands it over.
struct SeriesView {
  SeriesId id;
  std::string_view owner;
  std::string_view node;
  const Desc& desc;
  std::uint64_t subject;  // handle, 0 = the node
  const Labels& subject_labels;
  const Labels& own_labels;
  double value;  // the last one; of a histogram its count; NaN before the first
  Time time;     // of `value`
  // For a histogram: the counts below each bound of `desc` and the count of all, and the sum. Else empty.
  std::span<const std::uint64_t> cumulative = {};
  double sum = 0;
};

class SeriesObserver {
 public:
  virtual ~SeriesObserver() = default;
  virtual void on_begin(std::uint32_t index, const SeriesView& series) = 0;
  virtual void on_end(std::uint32_t index) = 0;
  // Valid, live and finite points only, each of them |value| <= resolution * 2^62; the index is
  // index_of(series).
  virtual void on_points(Time time, std::span<const Point> points) = 0;
};

}  // namespace koord::metric
