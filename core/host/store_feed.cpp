// SPDX-License-Identifier: Apache-2.0
#include "core/host/store_feed.hpp"

#include <algorithm>

namespace koord::host {
namespace {

metric::Labels all_labels(const metric::SeriesView& series) {
  metric::Labels labels;
  if (!series.node.empty()) labels.emplace_back(metric::kNodeLabel, series.node);
  labels.insert(labels.end(), series.subject_labels.begin(), series.subject_labels.end());
  labels.insert(labels.end(), series.own_labels.begin(), series.own_labels.end());
  return labels;
}

// The same for the same labels in any order; NUL is in no label.
std::string identity(std::string_view metric, metric::Labels labels) {
  std::sort(labels.begin(), labels.end());
  std::string key(metric);
  for (const auto& [name, value] : labels) {
    key.append(1, '\0').append(name).append(1, '\0').append(value);
  }
  return key;
}

}  // namespace

void StoreFeed::on_begin(std::uint32_t index, const metric::SeriesView& series) {
  metric::Labels labels = all_labels(series);
  std::string key = identity(series.desc.name, labels);
  if (!store_.begin_series(index,
                           {series.desc.name, series.desc.unit, series.desc.resolution, std::move(labels)})) {
    refused_series_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::lock_guard lock(mutex_);
  by_identity_[key] = {series.subject, series.id};
  identities_[index] = std::move(key);
}

void StoreFeed::on_end(std::uint32_t index) {
  store_.end_series(index);
  std::lock_guard lock(mutex_);
  auto identity = identities_.find(index);
  if (identity == identities_.end()) return;
  by_identity_.erase(identity->second);
  identities_.erase(identity);
}

void StoreFeed::on_points(Time time, std::span<const metric::Point> points) {
  samples_.clear();
  for (const metric::Point& point : points) samples_.push_back({metric::index_of(point.series), point.value});
  if (!store_.append(time, samples_)) refused_batches_.fetch_add(1, std::memory_order_relaxed);
}

StoreFeed::LiveSeries StoreFeed::find(std::string_view metric, const metric::Labels& labels) const {
  const std::string key = identity(metric, labels);
  std::lock_guard lock(mutex_);
  auto found = by_identity_.find(key);
  return found == by_identity_.end() ? LiveSeries() : found->second;
}

}  // namespace koord::host
