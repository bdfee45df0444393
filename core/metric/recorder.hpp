// SPDX-License-Identifier: Apache-2.0
// Takes one batch of values into the table: first everything is checked, then everything is stored, so a
// batch with an error changes nothing. Keeps its buffers between batches. Part of the registry, under its
// lock.
#pragma once

#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/metric/point.hpp"
#include "core/metric/series_table.hpp"

namespace koord::metric {

class Recorder {
 public:
  explicit Recorder(SeriesTable& table, SeriesObserver* observer) : table_(table), observer_(observer) {}

  Result<RecordSummary> record(const Owner& owner, Time time, std::span<const Point> points);
  Result<RecordSummary> record_histograms(const Owner& owner, Time time, std::span<const HistogramPoint> points);

 private:
  enum class Verdict { good, stale, absent, unknown, foreign, wrong_type, infinite, negative, too_big, bad_buckets };

  Verdict judge(const Owner& owner, SeriesId id) const;
  Verdict judge(const Owner& owner, const Point& point) const;
  Verdict judge(const Owner& owner, const HistogramPoint& point) const;
  // Counts what is skipped; false when the verdict is an error, which refuses the batch.
  static bool count(Verdict verdict, RecordSummary& summary);
  Error refusal(Verdict verdict, const Owner& owner, SeriesId id) const;

  // The points to store, when they are not all of the batch as it is.
  std::span<const Point> accepted(const Owner& owner, std::span<const Point> points);
  bool adds_up(const Point& point) const;
  void add_to_others(const Point& point);
  void store(const Point& point, Time time);
  void store(const HistogramPoint& point, Time time);
  void notify_of_histograms(Time time);

  SeriesTable& table_;
  SeriesObserver* observer_;
  std::vector<Point> accepted_;
  std::vector<Point> others_;  // one for each "other" counter of the batch
  std::vector<const HistogramPoint*> histograms_;
  std::vector<std::uint32_t> touched_;  // the histograms of the batch
};

}  // namespace koord::metric
