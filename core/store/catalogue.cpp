// SPDX-License-Identifier: Apache-2.0
#include "core/store/catalogue.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/store/packed_labels.hpp"

namespace koord::store {
namespace {

std::size_t posting_key(std::string_view name, std::string_view value) {
  std::hash<std::string_view> hash;
  return hash(name) * 31 + hash(value);
}

// Numbers are given in ascending order, so this nearly always appends.
void insert_sorted(std::vector<SeriesId>& ids, SeriesId id) {
  auto at = ids.empty() || ids.back() < id ? ids.end() : std::lower_bound(ids.begin(), ids.end(), id);
  if (at == ids.end() || *at != id) ids.insert(at, id);
}

void erase_sorted(std::vector<SeriesId>& ids, SeriesId id) {
  auto at = std::lower_bound(ids.begin(), ids.end(), id);
  if (at != ids.end() && *at == id) ids.erase(at);
}

}  // namespace

Catalogue::Key Catalogue::ByKey::key(SeriesId id) const {
  const Identity& identity = catalogue->identities_.at(id);
  return {identity.metric, identity.labels};
}

std::size_t Catalogue::ByKey::operator()(const Key& k) const {
  return std::hash<std::string_view>()(k.labels) * 31 + k.metric;
}

Catalogue::Catalogue() : by_key_(0, ByKey{this}, ByKey{this}) {}

MetricId Catalogue::metric(const std::string& name, const std::string& unit, double resolution) {
  for (MetricId id : metrics_by_name_[name]) {
    const Metric& metric = metrics_.at(id);
    if (metric.unit == unit && metric.resolution == resolution) return id;
  }
  MetricId id = next_metric_;
  load_metric(id, name, unit, resolution);
  changed_metrics_.push_back(id);
  return id;
}

SeriesId Catalogue::series(MetricId metric, std::string packed) {
  if (auto found = by_key_.find(Key{metric, packed}); found != by_key_.end()) return *found;
  SeriesId id = next_series_;
  load_series(id, metric, std::move(packed), std::nullopt);
  changed_series_.push_back(id);
  return id;
}

void Catalogue::set_living(SeriesId id) {
  Identity& identity = identities_.at(id);
  if (!std::exchange(identity.ended_ms, std::nullopt)) return;
  changed_series_.push_back(id);
}

void Catalogue::set_ended(SeriesId id, std::int64_t at_ms) {
  identities_.at(id).ended_ms = at_ms;
  changed_series_.push_back(id);
}

void Catalogue::forget(SeriesId id) {
  auto found = identities_.find(id);
  if (found == identities_.end()) return;
  by_key_.erase(id);
  erase_sorted(metrics_.at(found->second.metric).series, id);
  for_each_label(found->second.labels, [&](std::string_view name, std::string_view value) {
    auto posting = postings_.find(posting_key(name, value));
    if (posting == postings_.end()) return;
    erase_sorted(posting->second, id);
    if (posting->second.empty()) postings_.erase(posting);
  });
  identities_.erase(found);
}

void Catalogue::load_metric(MetricId id, std::string name, std::string unit, double resolution) {
  metrics_by_name_[name].push_back(id);
  metrics_.emplace(id, Metric{std::move(name), std::move(unit), resolution, {}});
  next_metric_ = std::max(next_metric_, id + 1);
}

bool Catalogue::load_series(SeriesId id, MetricId metric, std::string labels, std::optional<std::int64_t> ended_ms) {
  if (!metrics_.contains(metric) || identities_.contains(id) || by_key_.contains(Key{metric, labels})) return false;
  const Identity& identity = identities_.emplace(id, Identity{metric, std::move(labels), ended_ms, nullptr}).first->second;
  index(id, identity);
  next_series_ = std::max(next_series_, id + 1);
  return true;
}

void Catalogue::index(SeriesId id, const Identity& identity) {
  by_key_.insert(id);
  insert_sorted(metrics_.at(identity.metric).series, id);
  for_each_label(identity.labels, [&](std::string_view name, std::string_view value) {
    insert_sorted(postings_[posting_key(name, value)], id);
  });
}

const Metric* Catalogue::find_metric(MetricId id) const {
  auto found = metrics_.find(id);
  return found == metrics_.end() ? nullptr : &found->second;
}

const Identity* Catalogue::find(SeriesId id) const {
  auto found = identities_.find(id);
  return found == identities_.end() ? nullptr : &found->second;
}

const std::vector<SeriesId>* Catalogue::shortest_posting(const Labels& labels) const {
  static const std::vector<SeriesId> none;
  const std::vector<SeriesId>* shortest = nullptr;
  for (const auto& [name, value] : labels) {
    if (value.empty()) continue;
    auto found = postings_.find(posting_key(name, value));
    if (found == postings_.end()) return &none;
    if (!shortest || found->second.size() < shortest->size()) shortest = &found->second;
  }
  return shortest;
}

bool Catalogue::has_labels(SeriesId id, const std::string& metric, const Labels& labels) const {
  const Identity& identity = identities_.at(id);
  if (metrics_.at(identity.metric).name != metric) return false;
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    return label_value(identity.labels, label.first) == label.second;
  });
}

std::vector<SeriesId> Catalogue::match(const std::string& metric, const Labels& labels) const {
  std::vector<SeriesId> matching;
  auto take = [&](const std::vector<SeriesId>& candidates) {
    for (SeriesId id : candidates)
      if (has_labels(id, metric, labels)) matching.push_back(id);
  };
  auto named = metrics_by_name_.find(metric);
  if (named == metrics_by_name_.end()) return matching;
  std::size_t of_metric = 0;
  for (MetricId id : named->second) of_metric += metrics_.at(id).series.size();
  const std::vector<SeriesId>* posting = shortest_posting(labels);
  if (posting && posting->size() < of_metric) {
    take(*posting);
  } else {
    for (MetricId id : named->second) {
      const std::vector<SeriesId>& all = metrics_.at(id).series;
      if (labels.empty())
        matching.insert(matching.end(), all.begin(), all.end());
      else
        take(all);
    }
    std::sort(matching.begin(), matching.end());
  }
  return matching;
}

std::size_t Catalogue::definitions(const std::string& metric) const {
  auto named = metrics_by_name_.find(metric);
  return named == metrics_by_name_.end() ? 0 : named->second.size();
}

std::vector<SeriesId> Catalogue::ended_before(std::int64_t ms) const {
  std::vector<SeriesId> ended;
  for (const auto& [id, identity] : identities_)
    if (identity.ended_ms && *identity.ended_ms < ms && !identity.column) ended.push_back(id);
  return ended;
}

std::vector<MetricId> Catalogue::take_changed_metrics() { return std::exchange(changed_metrics_, {}); }

// A series that came and went many times is written once, as it is now.
std::vector<SeriesId> Catalogue::take_changed_series() {
  std::vector<SeriesId> changed = std::exchange(changed_series_, {});
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  return changed;
}

void Catalogue::mark_all_changed() {
  changed_metrics_.clear();
  changed_series_.clear();
  for (const auto& each : metrics_) changed_metrics_.push_back(each.first);
  for (const auto& each : identities_) changed_series_.push_back(each.first);
}

}  // namespace koord::store
