// SPDX-License-Identifier: Apache-2.0
// The registry of metrics and series: definitions of owners (plugins), the latest value of each series, and the text
// for Prometheus. History is the observer's matter. All functions may be called from any thread; one lock is taken per
// call, so a batch costs one lock. Lock order: registry, then observer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/metric/desc.hpp"
#include "core/metric/exported.hpp"
#include "core/metric/labels.hpp"
#include "core/metric/point.hpp"
#include "core/metric/series_observer.hpp"

namespace koord::metric {

inline constexpr std::size_t kDefaultSeriesBudget = 20'000;
// The own labels of an owner's series have at most kLabelBytes for each series of its budget, and at least
// kMinLabelBytes.
inline constexpr std::size_t kLabelBytes = 256;
inline constexpr std::size_t kMinLabelBytes = 64u << 10;
constexpr std::size_t max_label_bytes(std::size_t series_budget) {
  return std::max(kMinLabelBytes, std::min(series_budget, SIZE_MAX / kLabelBytes) * kLabelBytes);
}
// Limits of one owner. Bytes are those of names, units and help texts, and kBoundBytes for each bound.
inline constexpr std::size_t kMaxMetrics = 2'000;
inline constexpr std::size_t kMaxDefinitionBytes = 2u << 20;
inline constexpr std::size_t kBoundBytes = 64;
inline constexpr Duration kDefaultStaleAfter = std::chrono::minutes(5);

class Registry {
 public:
  // `node_name` becomes the label "node" of every series; empty: no such label. The observer outlives the
  // registry.
  explicit Registry(std::string node_name = {}, SeriesObserver* observer = nullptr);
  ~Registry();

  // The id of the metric. The same description by the same owner gives the same id; another description, or a
  // name that another metric's lines already use, is an error. std::errc::no_buffer_space: the owner has as many as it
  // may. With `takes_name`, a metric of another owner in the way ends, unless that owner defined it so, too.
  Result<std::uint32_t> define(std::string_view owner, const Desc& desc, bool takes_name = false);

  // Returns the series of this metric, subject and own labels, and creates it if missing. An owner beyond its
  // budget of series or labels gets one series per metric for the excess, with every own label "other" and without a
  // subject.
  Result<SeriesId> series(std::string_view owner, std::uint32_t metric, const Subject& subject, Labels own = {});

  // All or nothing: an unknown id, a series of another owner or of the wrong type, an infinite value, a
  // negative counter or a value beyond what the resolution can hold is an error, and nothing was recorded.
  // Points of ended series and NaN are skipped and counted. Points for the "other" series add up when it is a
  // counter.
  Result<RecordSummary> record(std::string_view owner, Time time, std::span<const Point> points);
  Result<RecordSummary> record_histograms(std::string_view owner, Time time, std::span<const HistogramPoint> points);

  // Ended series leave the text at once; ending what has ended is nothing. end_owner forgets the definitions
  // too.
  void end_series(SeriesId id);
  // The same, asked for by an owner: a series of another owner is an error.
  Result<void> end_series(std::string_view owner, SeriesId id);
  void end_subject(std::uint64_t handle);
  void end_owner(std::string_view owner);

  // An owner is about to be replaced by another of its name. From now on both may write. Metrics and series
  // that the new owner requests again go on; a metric with another definition is replaced. Series
  // that only the old owner has do not count against the budget meanwhile.
  void begin_handover(std::string_view owner);
  // The old owner has ended: series that were not requested again end with it.
  void end_handover(std::string_view owner);
  // The new one has. False: a metric of the old one was taken from it, and it must define it again.
  bool abandon_handover(std::string_view owner);

  void set_budget(std::string_view owner, std::size_t series);
  std::size_t budget(std::string_view owner) const;
  // Returns whether the last new series of the owner was one too many because of the bytes of its labels.
  bool lacks_label_room(std::string_view owner) const;
  // A series without a sample for this time is left out of the text; it is not ended.
  void set_stale_after(std::string_view owner, Duration stale_after);
  std::size_t live_series(std::string_view owner) const;
  // How many times the owner asked for a series beyond its budget.
  std::uint64_t dropped_series(std::string_view owner) const;

  // Appends the exposition (text format 0.0.4): families by name, series in no particular order. `rule` is called with
  // the lock held, once for each metric that its owner exports; empty: all their series.
  void write_text(std::string& out, Time now, const ExportRule& rule = {}) const;

  // Every live series, families by name. `visit` runs with the lock held: it copies what it wants and
  // returns.
  void for_each_series(const std::function<void(const SeriesView&)>& visit) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::metric
