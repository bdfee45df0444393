// SPDX-License-Identifier: Apache-2.0
#include "core/metric/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace koord::metric {
namespace {

void add_capped(double& to, double more, double cap) { to = std::min(to + more, cap); }

}  // namespace

// The next two functions run for every point. Without `inline`, the calls cost as much as their work.
inline Recorder::Verdict Recorder::judge(const Owner& owner, SeriesId id) const {
  const Series* series = table_.at(index_of(id));
  std::uint32_t generation = generation_of(id);
  if (!series || generation == 0 || generation > series->generation || series->state == Series::State::part)
    return Verdict::unknown;
  if (generation < series->generation || series->state != Series::State::live) return Verdict::stale;
  return &series->metric->owner == &owner ? Verdict::good : Verdict::foreign;
}

inline Recorder::Verdict Recorder::judge(const Owner& owner, const Point& point) const {
  Verdict verdict = judge(owner, point.series);
  if (verdict != Verdict::good) return verdict;
  const Metric& metric = *table_.at(index_of(point.series))->metric;
  if (metric.desc.type == Type::histogram) return Verdict::wrong_type;
  if (std::isnan(point.value)) return Verdict::absent;
  if (std::abs(point.value) <= metric.max_value)
    return point.value < 0 && metric.desc.type == Type::counter ? Verdict::negative : Verdict::good;
  return std::isinf(point.value) ? Verdict::infinite : Verdict::too_big;
}

Recorder::Verdict Recorder::judge(const Owner& owner, const HistogramPoint& point) const {
  Verdict verdict = judge(owner, point.series);
  if (verdict != Verdict::good) return verdict;
  const Metric& metric = *table_.at(index_of(point.series))->metric;
  if (metric.desc.type != Type::histogram) return Verdict::wrong_type;
  std::span<const std::uint64_t> buckets(point.cumulative, point.count);
  if (buckets.size() != metric.desc.bounds.size() + 1 || !std::is_sorted(buckets.begin(), buckets.end()))
    return Verdict::bad_buckets;
  if (std::isnan(point.sum)) return Verdict::absent;
  bool fits = std::abs(point.sum) <= metric.max_value && static_cast<double>(buckets.back()) <= metric.count->max_value;
  if (fits) return Verdict::good;
  return std::isinf(point.sum) ? Verdict::infinite : Verdict::too_big;
}

Error Recorder::refusal(Verdict verdict, const Owner& owner, SeriesId id) const {
  std::string what = "series " + std::to_string(index_of(id)) + "/" + std::to_string(generation_of(id));
  if (verdict == Verdict::unknown) return invalid(what + " was never given out");
  const Metric& metric = *table_[index_of(id)].metric;
  what += " of metric '" + metric.desc.name + "'";
  switch (verdict) {
    case Verdict::foreign:
      return invalid(what + " belongs to '" + metric.owner.name + "', not to '" + owner.name + "'");
    case Verdict::wrong_type:
      return invalid(what + " is a " + std::string(to_string(metric.desc.type)));
    case Verdict::infinite:
      return invalid(what + " got an infinite value");
    case Verdict::negative:
      return invalid(what + " is a counter and got a negative value");
    case Verdict::bad_buckets:
      return invalid(what + " expects " + std::to_string(metric.desc.bounds.size() + 1) +
                     " cumulative counts, none smaller than the one before");
    default:
      return invalid(what + " got a value beyond 2^62 times its resolution");
  }
}

bool Recorder::count(Verdict verdict, RecordSummary& summary) {
  summary.stale += verdict == Verdict::stale;
  summary.absent += verdict == Verdict::absent;
  return verdict == Verdict::stale || verdict == Verdict::absent;
}

Result<RecordSummary> Recorder::record(const Owner& owner, Time time, std::span<const Point> points) {
  RecordSummary summary;
  bool sums = false;
  for (const Point& point : points) {
    Verdict verdict = judge(owner, point);
    if (verdict == Verdict::good)
      sums = sums || adds_up(point);
    else if (!count(verdict, summary))
      return refusal(verdict, owner, point.series);
  }
  summary.recorded = points.size() - summary.stale - summary.absent;
  if (sums || summary.recorded < points.size()) points = accepted(owner, points);
  for (const Point& point : points) store(point, time);
  if (observer_ && !points.empty()) observer_->on_points(time, points);
  return summary;
}

bool Recorder::adds_up(const Point& point) const {
  const Series& series = *table_.at(index_of(point.series));
  return series.is_other && series.metric->desc.type == Type::counter;
}

std::span<const Point> Recorder::accepted(const Owner& owner, std::span<const Point> points) {
  accepted_.clear();
  others_.clear();
  for (const Point& point : points) {
    if (judge(owner, point) != Verdict::good) continue;
    if (adds_up(point))
      add_to_others(point);
    else
      accepted_.push_back(point);
  }
  accepted_.insert(accepted_.end(), others_.begin(), others_.end());
  return accepted_;
}

void Recorder::add_to_others(const Point& point) {
  auto sum = std::find_if(others_.begin(), others_.end(), [&](const Point& p) { return p.series == point.series; });
  if (sum == others_.end())
    others_.push_back(point);
  else
    add_capped(sum->value, point.value, table_[index_of(point.series)].metric->max_value);
}

void Recorder::store(const Point& point, Time time) {
  Series& series = *table_.at(index_of(point.series));
  series.value = point.value;
  series.time = time;
  series.has_value = true;
}

Result<RecordSummary> Recorder::record_histograms(const Owner& owner, Time time,
                                                  std::span<const HistogramPoint> points) {
  RecordSummary summary;
  histograms_.clear();
  touched_.clear();
  for (const HistogramPoint& point : points) {
    Verdict verdict = judge(owner, point);
    if (verdict == Verdict::good)
      histograms_.push_back(&point);
    else if (!count(verdict, summary))
      return refusal(verdict, owner, point.series);
  }
  summary.recorded = histograms_.size();
  for (const HistogramPoint* point : histograms_) store(*point, time);
  notify_of_histograms(time);
  return summary;
}

void Recorder::store(const HistogramPoint& point, Time time) {
  std::uint32_t index = index_of(point.series);
  Series& series = table_[index];
  HistogramState& histogram = *series.histogram;
  bool again = series.is_other && std::find(touched_.begin(), touched_.end(), index) != touched_.end();
  if (!again) {
    touched_.push_back(index);
    histogram.cumulative.assign(point.count, 0);
    histogram.sum = 0;
  }
  for (std::size_t i = 0; i < point.count; ++i) histogram.cumulative[i] += point.cumulative[i];
  add_capped(histogram.sum, point.sum, series.metric->max_value);
  series.value = static_cast<double>(histogram.cumulative.back());
  series.time = time;
  series.has_value = true;
}

void Recorder::notify_of_histograms(Time time) {
  if (!observer_ || touched_.empty()) return;
  accepted_.clear();
  for (std::uint32_t index : touched_) {
    const HistogramState& histogram = *table_[index].histogram;
    accepted_.push_back({table_.id(table_[histogram.count_index]), table_[index].value});
    accepted_.push_back({table_.id(table_[histogram.sum_index]), histogram.sum});
  }
  observer_->on_points(time, accepted_);
}

}  // namespace koord::metric
