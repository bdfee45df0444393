// SPDX-License-Identifier: Apache-2.0
// The table of series: identity to index, subjects, and the beginning and end of each series, which it
// reports to the observer. Part of the registry, under its lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "core/metric/series.hpp"
#include "core/metric/series_observer.hpp"

namespace koord::metric {

class SeriesTable {
 public:
  SeriesTable(std::string node_name, SeriesObserver* observer);
  SeriesTable(const SeriesTable&) = delete;
  SeriesTable& operator=(const SeriesTable&) = delete;

  // The labels are checked ones. The reference is valid until the next call that begins a series.
  Series* find(const Metric& metric, std::uint64_t handle, const Labels& own);
  Series& begin(Metric& metric, const Subject& subject, Labels own);
  // The series for what is beyond the owner's budget; `like` names the own labels of the first of them.
  Series& other(Metric& metric, const Labels& like);

  // In a handover: marks the series as not requested again yet, or as requested.
  void leave_over(Series& series);
  void claim(Series& series);

  void end(std::uint32_t index);
  void end_subject(std::uint64_t handle);

  // Null when there was never such an index.
  Series* at(std::uint32_t index) { return index < series_.size() ? series_.data() + index : nullptr; }
  const Series* at(std::uint32_t index) const { return index < series_.size() ? series_.data() + index : nullptr; }

  std::size_t size() const { return series_.size(); }
  Series& operator[](std::uint32_t index) { return series_[index]; }
  const Series& operator[](std::uint32_t index) const { return series_[index]; }
  std::uint32_t index(const Series& series) const { return static_cast<std::uint32_t>(&series - series_.data()); }
  SeriesId id(const Series& series) const { return make_series_id(series.generation, index(series)); }

  SeriesView view(const Series& series) const;

 private:
  struct Key {
    const Metric* metric;
    std::uint64_t handle;
    const Labels& own;
  };
  struct Hash {
    using is_transparent = void;
    const SeriesTable* table;
    std::size_t operator()(const Key& key) const;
    std::size_t operator()(std::uint32_t index) const { return (*this)(table->key(index)); }
  };
  struct Equal {
    using is_transparent = void;
    const SeriesTable* table;
    bool operator()(const Key& a, const Key& b) const;
    bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }
    bool operator()(const Key& a, std::uint32_t b) const { return (*this)(a, table->key(b)); }
    bool operator()(std::uint32_t a, const Key& b) const { return (*this)(table->key(a), b); }
  };

  Key key(std::uint32_t index) const;
  SubjectRecord& subject_record(const Subject& subject);
  void supersede(const std::string& subject_text);
  std::uint32_t allocate(Metric& metric, SubjectRecord& subject, Series::State state);
  void release(std::uint32_t index);
  void begin_histogram(std::uint32_t index);
  void leave_lists(const Series& series);
  void announce(std::uint32_t index);

  std::string node_name_;
  SeriesObserver* observer_;
  std::vector<Series> series_;
  std::vector<std::uint32_t> free_;
  OwnLabelsPool own_labels_;
  boost::unordered_flat_set<std::uint32_t, Hash, Equal> by_identity_;
  std::unordered_map<std::uint64_t, std::unique_ptr<SubjectRecord>> subjects_;
  std::unordered_map<std::string_view, SubjectRecord*> subjects_by_text_;
};

}  // namespace koord::metric
