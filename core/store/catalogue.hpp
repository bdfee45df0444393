// SPDX-License-Identifier: Apache-2.0
// The catalogue: which series there are, living and ended, by number and by labels. Numbers are given here and never
// again to another series. Part of State and guarded by its mutex.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/store/chunk.hpp"
#include "core/store/types.hpp"

namespace koord::store {

using MetricId = std::uint32_t;
struct Column;

// A metric that changed its unit or resolution is another metric of the same name: old chunks keep their meaning.
struct Metric {
  std::string name;
  std::string unit;
  double resolution = 1;
  std::vector<SeriesId> series;  // ascending
};

struct Identity {
  MetricId metric = 0;
  std::string labels;                    // packed
  std::optional<std::int64_t> ended_ms;  // nothing while it exists
  Column* column = nullptr;              // its values in memory, if there are
};

class Catalogue {
 public:
  Catalogue();
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  // Found, or added and marked as changed.
  MetricId metric(const std::string& name, const std::string& unit, double resolution);
  SeriesId series(MetricId metric, std::string packed_labels);

  void set_column(SeriesId id, Column* column) { identities_.at(id).column = column; }
  void set_living(SeriesId id);
  void set_ended(SeriesId id, std::int64_t at_ms);
  void forget(SeriesId id);

  // As read from a file; no change to write.
  void load_metric(MetricId id, std::string name, std::string unit, double resolution);
  bool load_series(SeriesId id, MetricId metric, std::string labels, std::optional<std::int64_t> ended_ms);

  const Metric& metric_of(MetricId id) const { return metrics_.at(id); }
  const Metric* find_metric(MetricId id) const;
  const Identity* find(SeriesId id) const;
  const std::unordered_map<SeriesId, Identity>& all() const { return identities_; }
  std::size_t size() const { return identities_.size(); }
  SeriesId largest_id() const { return next_series_ - 1; }

  // The series of the metrics of this name that have all these labels, ascending.
  std::vector<SeriesId> match(const std::string& metric, const Labels& labels) const;
  // How many metrics have this name: they differ in unit or resolution.
  std::size_t definitions(const std::string& metric) const;
  std::vector<SeriesId> ended_before(std::int64_t ms) const;

  // Takes the metrics to write, and empties the list. mark_all_changed() lists everything anew, for a new file.
  std::vector<MetricId> take_changed_metrics();
  std::vector<SeriesId> take_changed_series();
  void mark_all_changed();

 private:
  struct Key {
    MetricId metric;
    std::string_view labels;
    bool operator==(const Key&) const = default;
  };
  // The set holds numbers only and compares through the identities: no second copy of the labels.
  struct ByKey {
    using is_transparent = void;
    const Catalogue* catalogue;
    Key key(SeriesId id) const;
    static const Key& key(const Key& k) { return k; }
    std::size_t operator()(const Key& k) const;
    std::size_t operator()(SeriesId id) const { return (*this)(key(id)); }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const { return key(a) == key(b); }
  };

  void index(SeriesId id, const Identity& identity);
  const std::vector<SeriesId>* shortest_posting(const Labels& labels) const;
  bool has_labels(SeriesId id, const std::string& metric, const Labels& labels) const;

  std::unordered_map<MetricId, Metric> metrics_;
  std::unordered_map<std::string, std::vector<MetricId>> metrics_by_name_;
  std::unordered_map<SeriesId, Identity> identities_;
  std::unordered_set<SeriesId, ByKey, ByKey> by_key_;
  // Hash of a label's name and value → the series that have it, ascending. A collision only costs a comparison.
  std::unordered_map<std::size_t, std::vector<SeriesId>> postings_;
  std::vector<MetricId> changed_metrics_;
  std::vector<SeriesId> changed_series_;
  MetricId next_metric_ = 1;
  SeriesId next_series_ = 1;
};

}  // namespace koord::store
