// SPDX-License-Identifier: Apache-2.0
#include "core/service/store_feed.hpp"

namespace koord::service {
namespace {

constexpr log::Category feed_log{"store"};

metric::Labels all_labels(const metric::SeriesView& series) {
  metric::Labels labels;
  if (!series.node.empty()) labels.emplace_back(metric::kNodeLabel, series.node);
  labels.insert(labels.end(), series.subject_labels.begin(), series.subject_labels.end());
  labels.insert(labels.end(), series.own_labels.begin(), series.own_labels.end());
  return labels;
}

}  // namespace

// The tag in the cache is the series' id, which includes the generation.
void StoreFeed::on_begin(std::uint32_t index, const metric::SeriesView& series) {
  if (!store_.begin_series(
          index, {series.desc.name, series.desc.unit, series.desc.resolution, all_labels(series), series.id})) {
    refused_series_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::lock_guard lock(mutex_);
  if (index >= live_.size()) live_.resize(index + 1);
  live_[index] = {series.subject, series.id};
}

void StoreFeed::on_end(std::uint32_t index) {
  store_.end_series(index);
  std::lock_guard lock(mutex_);
  if (index < live_.size()) live_[index] = {};
}

void StoreFeed::on_points(Time time, std::span<const metric::Point> points) {
  samples_.clear();
  for (const metric::Point& point : points) samples_.push_back({metric::index_of(point.series), point.value});
  const Result<void> appended = store_.append(time, samples_);
  if (appended) return;
  refused_batches_.fetch_add(1, std::memory_order_relaxed);
  refusal_lines_.write(time, feed_log, log::Level::warn,
                       "a batch is missing in the history: " + appended.error().message());
}

StoreFeed::LiveSeries StoreFeed::find(std::uint64_t tag) const {
  std::lock_guard lock(mutex_);
  const std::uint32_t index = metric::index_of(tag);
  return index < live_.size() && live_[index].series == tag ? live_[index] : LiveSeries();
}

}  // namespace koord::service
