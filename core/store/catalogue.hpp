// SPDX-License-Identifier: Apache-2.0
// The catalogue: which series there are, living and ended, by number and by labels. Numbers are given here and never
// again to another series. Part of State and guarded by its mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "core/store/identities.hpp"
#include "core/store/types.hpp"

namespace koord::store {

// A metric that changed its unit or resolution is another metric of the same name: old chunks keep their meaning.
struct Metric {
  std::string name;
  std::string unit;
  double resolution = 1;
  std::vector<SeriesId> series;  // ascending
};

// The labels of a subject are those of many series, one for each metric. They are kept once.
struct LabelSet {
  struct Member {
    MetricId metric;
    SeriesId series;
  };
  std::string labels;           // packed
  std::vector<Member> members;  // ascending by metric
};

// Label sets by their labels.
struct LabelSetHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view labels) const { return std::hash<std::string_view>()(labels); }
  std::size_t operator()(const std::unique_ptr<LabelSet>& set) const { return (*this)(set->labels); }
};
struct LabelSetEqual {
  using is_transparent = void;
  bool operator()(std::string_view labels, const std::unique_ptr<LabelSet>& set) const { return labels == set->labels; }
  bool operator()(const std::unique_ptr<LabelSet>& set, std::string_view labels) const { return labels == set->labels; }
  bool operator()(const std::unique_ptr<LabelSet>& a, const std::unique_ptr<LabelSet>& b) const {
    return a->labels == b->labels;
  }
};

inline const std::string& Identity::labels() const { return label_set->labels; }

class Catalogue {
 public:
  Catalogue();
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  // Found, or added and marked as changed.
  MetricId metric(const std::string& name, const std::string& unit, double resolution);
  SeriesId series(MetricId metric, std::string packed_labels);

  void set_column(SeriesId id, Column* column) { identities_.find(id)->column = column; }
  void set_living(SeriesId id);
  void set_ended(SeriesId id, std::int64_t at_ms);
  void forget(SeriesId id);

  // As read from a file; no change to write.
  void load_metric(MetricId id, std::string name, std::string unit, double resolution);
  bool load_series(SeriesId id, MetricId metric, std::string labels, std::optional<std::int64_t> ended_ms);

  const Metric& metric_of(MetricId id) const { return metrics_.at(id); }
  const Metric* find_metric(MetricId id) const;
  const Identity* find(SeriesId id) const { return identities_.find(id); }
  const Identities& all() const { return identities_; }
  std::size_t size() const { return identities_.size(); }
  SeriesId largest_id() const { return next_series_ - 1; }

  // The series of the metrics of this name that have all these labels, ascending.
  std::vector<SeriesId> match(const std::string& metric, const Labels& labels) const;
  // How many metrics have this name: they differ in unit or resolution.
  std::size_t definitions(const std::string& metric) const;
  std::vector<SeriesId> ended_before(std::int64_t ms) const;

  // Takes the metrics to write, and empties the list. mark_all_changed() lists everything again, for a new file.
  std::vector<MetricId> take_changed_metrics();
  std::vector<SeriesId> take_changed_series();
  void mark_all_changed();

 private:
  void leave_label_set(MetricId metric, LabelSet& set);
  LabelSet& label_set(std::string labels);
  const std::vector<LabelSet*>* shortest_posting(const Labels& labels) const;

  std::unordered_map<MetricId, Metric> metrics_;
  std::unordered_map<std::string, std::vector<MetricId>> metrics_by_name_;
  Identities identities_;
  // A set has at least one series.
  boost::unordered_flat_set<std::unique_ptr<LabelSet>, LabelSetHash, LabelSetEqual> label_sets_;
  // Hash of a label's name and value → the label sets that have it, in no order. A collision only costs a comparison.
  std::unordered_map<std::size_t, std::vector<LabelSet*>> postings_;
  std::vector<MetricId> changed_metrics_;
  std::vector<SeriesId> changed_series_;
  MetricId next_metric_ = 1;
  SeriesId next_series_ = 1;
};

}  // namespace koord::store
