// SPDX-License-Identifier: Apache-2.0
#include "core/store/catalogue.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "core/base/append_tight.hpp"
#include "core/store/packed_labels.hpp"

namespace koord::store {
namespace {

std::size_t posting_key(std::string_view name, std::string_view value) {
  std::hash<std::string_view> hash;
  return hash(name) * 31 + hash(value);
}

// Inserts an id. Ids are assigned in ascending order, so this nearly always appends.
void insert_sorted(std::vector<SeriesId>& ids, SeriesId id) {
  auto at = ids.empty() || ids.back() < id ? ids.end() : std::lower_bound(ids.begin(), ids.end(), id);
  if (at == ids.end() || *at != id) ids.insert(at, id);
}

void erase_sorted(std::vector<SeriesId>& ids, SeriesId id) {
  auto at = std::lower_bound(ids.begin(), ids.end(), id);
  if (at != ids.end() && *at == id) ids.erase(at);
}

// Returns the series of a metric in a label set, or the place where to insert it.
std::vector<LabelSet::Member>::const_iterator place_of(MetricId metric, const LabelSet& set) {
  return std::lower_bound(set.members.begin(), set.members.end(), metric,
                          [](const LabelSet::Member& member, MetricId wanted) { return member.metric < wanted; });
}

std::optional<SeriesId> series_of(MetricId metric, const LabelSet& set) {
  auto at = place_of(metric, set);
  if (at == set.members.end() || at->metric != metric) return std::nullopt;
  return at->series;
}

bool has_labels(const LabelSet& set, const Labels& labels) {
  return std::all_of(labels.begin(), labels.end(),
                     [&](const auto& label) { return label_value(set.labels, label.first) == label.second; });
}

}  // namespace

Catalogue::Catalogue() = default;

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
  if (auto set = label_sets_.find(std::string_view(packed)); set != label_sets_.end())
    if (auto known = series_of(metric, **set)) return *known;
  SeriesId id = next_series_;
  load_series(id, metric, std::move(packed), std::nullopt);
  changed_series_.push_back(id);
  return id;
}

void Catalogue::set_living(SeriesId id) {
  Identity& identity = *identities_.find(id);
  if (!identity.ended_ms()) return;
  identity.set_ended_ms(std::nullopt);
  changed_series_.push_back(id);
}

void Catalogue::set_ended(SeriesId id, std::int64_t at_ms) {
  identities_.find(id)->set_ended_ms(at_ms);
  changed_series_.push_back(id);
}

void Catalogue::forget(SeriesId id) {
  const Identity* identity = identities_.find(id);
  if (!identity) return;
  erase_sorted(metrics_.at(identity->metric).series, id);
  leave_label_set(identity->metric, *identity->label_set);
  identities_.erase(id);
}

void Catalogue::load_metric(MetricId id, std::string name, std::string unit, double resolution) {
  metrics_by_name_[name].push_back(id);
  metrics_.emplace(id, Metric{std::move(name), std::move(unit), resolution, {}});
  next_metric_ = std::max(next_metric_, id + 1);
}

bool Catalogue::load_series(SeriesId id, MetricId metric, std::string labels, std::optional<std::int64_t> ended_ms) {
  if (metric == 0 || !metrics_.contains(metric) || identities_.contains(id)) return false;
  auto known = label_sets_.find(std::string_view(labels));
  if (known != label_sets_.end() && series_of(metric, **known)) return false;
  LabelSet& set = label_set(std::move(labels));
  identities_.add(id, Identity(metric, set, ended_ms));
  insert_sorted(metrics_.at(metric).series, id);
  const auto place = place_of(metric, set) - set.members.begin();
  append_tight(set.members, {metric, id});
  std::rotate(set.members.begin() + place, std::prev(set.members.end()), set.members.end());
  next_series_ = std::max(next_series_, id + 1);
  return true;
}

LabelSet& Catalogue::label_set(std::string labels) {
  if (auto known = label_sets_.find(std::string_view(labels)); known != label_sets_.end()) return **known;
  auto made = std::make_unique<LabelSet>(LabelSet{std::move(labels), {}});
  LabelSet& set = *made;
  label_sets_.insert(std::move(made));
  for_each_label(set.labels, [&](std::string_view name, std::string_view value) {
    postings_[posting_key(name, value)].push_back(&set);
  });
  return set;
}

void Catalogue::leave_label_set(MetricId metric, LabelSet& set) {
  set.members.erase(place_of(metric, set));
  if (!set.members.empty()) return;
  for_each_label(set.labels, [&](std::string_view name, std::string_view value) {
    auto posting = postings_.find(posting_key(name, value));
    if (posting == postings_.end()) return;
    std::erase(posting->second, &set);
    if (posting->second.empty()) postings_.erase(posting);
  });
  label_sets_.erase(label_sets_.find(std::string_view(set.labels)));
}

const Metric* Catalogue::find_metric(MetricId id) const {
  auto found = metrics_.find(id);
  return found == metrics_.end() ? nullptr : &found->second;
}

const std::vector<LabelSet*>* Catalogue::shortest_posting(const Labels& labels) const {
  static const std::vector<LabelSet*> none;
  const std::vector<LabelSet*>* shortest = nullptr;
  for (const auto& [name, value] : labels) {
    if (value.empty()) continue;
    auto found = postings_.find(posting_key(name, value));
    if (found == postings_.end()) return &none;
    if (!shortest || found->second.size() < shortest->size()) shortest = &found->second;
  }
  return shortest;
}

std::vector<SeriesId> Catalogue::match(const std::string& metric, const Labels& labels) const {
  std::vector<SeriesId> matching;
  auto named = metrics_by_name_.find(metric);
  if (named == metrics_by_name_.end()) return matching;
  std::size_t of_metric = 0;
  for (MetricId id : named->second) of_metric += metrics_.at(id).series.size();
  const std::vector<LabelSet*>* posting = shortest_posting(labels);
  for (MetricId id : named->second) {
    const std::vector<SeriesId>& all = metrics_.at(id).series;
    if (posting && posting->size() < of_metric) {
      for (const LabelSet* set : *posting)
        if (auto series = series_of(id, *set); series && has_labels(*set, labels)) matching.push_back(*series);
    } else {
      std::copy_if(all.begin(), all.end(), std::back_inserter(matching),
                   [&](SeriesId series) { return has_labels(*identities_.find(series)->label_set, labels); });
    }
  }
  std::sort(matching.begin(), matching.end());
  return matching;
}

std::size_t Catalogue::definitions(const std::string& metric) const {
  auto named = metrics_by_name_.find(metric);
  return named == metrics_by_name_.end() ? 0 : named->second.size();
}

std::vector<SeriesId> Catalogue::ended_before(std::int64_t ms) const {
  std::vector<SeriesId> ended;
  identities_.for_each([&](SeriesId id, const Identity& identity) {
    if (auto ended_ms = identity.ended_ms(); ended_ms && *ended_ms < ms && !identity.column) ended.push_back(id);
  });
  return ended;
}

std::vector<MetricId> Catalogue::take_changed_metrics() { return std::exchange(changed_metrics_, {}); }

// Returns each changed series once, even if it began and ended many times.
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
  identities_.for_each([this](SeriesId id, const Identity&) { changed_series_.push_back(id); });
}

}  // namespace koord::store
