// SPDX-License-Identifier: Apache-2.0
#include "core/store/head.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "core/store/packed_labels.hpp"

namespace koord::store {
namespace {

constexpr std::uint32_t kMaxIndex = 1u << 24;
// How many samples ahead a series is prefetched. Each series costs one or two cache misses.
constexpr std::size_t kAhead = 12;
constexpr double kMaxScaled = 2305843009213693952.0;  // 2^61

Result<void> check_spec(std::uint32_t index, const SeriesSpec& spec) {
  if (index >= kMaxIndex)
    return invalid("series index " + std::to_string(index) + " is out of range, expected less than " +
                   std::to_string(kMaxIndex));
  if (spec.metric.empty()) return invalid("series " + std::to_string(index) + " has no metric name");
  if (!(std::isfinite(spec.resolution) && spec.resolution > 0))
    return invalid("metric '" + spec.metric + "': resolution " + std::to_string(spec.resolution) +
                   " is not a positive number");
  return {};
}

Error index_not_begun(std::uint32_t index) {
  return invalid("no series has the index " + std::to_string(index) + ", nothing appended");
}

}  // namespace

Head::Head(const Options& options)
    : ring_rows_(options.ring_rows),
      catalogue_(std::make_unique<Catalogue>()),
      journal_(options.journal && !options.path.empty()) {}

Lane& Head::lane_of(MetricId metric, double resolution, const NewestOnDisk& newest_ms) {
  std::unique_ptr<Lane>& lane = lanes_[metric];
  if (!lane) {
    std::int64_t newest = newest_ms(metric).value_or(std::numeric_limits<std::int64_t>::min());
    lane = std::make_unique<Lane>(metric, resolution, ring_rows_, newest);
  }
  return *lane;
}

Result<void> Head::begin_series(std::uint32_t index, const SeriesSpec& spec, const NewestOnDisk& newest_ms) {
  TRY(check_spec(index, spec));
  if (live(index)) return invalid("the series index " + std::to_string(index) + " is in use");
  MetricId metric = catalogue_->metric(spec.metric, spec.unit, spec.resolution);
  SeriesId id = catalogue_->series(metric, pack_labels(spec.labels));
  Column* column = catalogue_->find(id)->column;
  if (column && !column->ended)
    return invalid("metric '" + spec.metric + "': a series with the labels " +
                   labels_as_json(catalogue_->find(id)->labels()) + " has begun and not ended");
  if (!column) column = &lane_of(metric, spec.resolution, newest_ms).add(id);
  column->ended = false;
  column->tag = spec.tag;
  catalogue_->set_column(id, column);
  catalogue_->set_living(id);
  if (index >= live_.size()) live_.resize(index + 1);
  live_[index] = column;
  ++live_count_;
  return {};
}

void Head::end_series(std::uint32_t index) {
  if (!live(index)) return;
  Column* column = std::exchange(live_[index], nullptr);
  --live_count_;
  column->ended = true;
  column->tag = 0;
  catalogue_->set_ended(column->id, std::max<std::int64_t>(column->lane->newest_ms(), 0));
  release_ended({column->lane, &column->lane->group_of(*column)});
}

Error Head::out_of_range(const Column& column, double value) const {
  const Metric& metric = catalogue_->metric_of(column.lane->metric());
  return invalid("metric '" + metric.name + "': value " + std::to_string(value) +
                 " is out of range, expected a magnitude below 2^61 times the resolution " +
                 std::to_string(metric.resolution));
}

// Checks all samples, and fills batch_ with the samples that have a value.
Result<void> Head::check_samples(std::int64_t time_ms, std::span<const Sample> samples) {
  batch_.clear();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    if (i + kAhead < samples.size()) __builtin_prefetch(live(samples[i + kAhead].index), 1);
    Column* column = sample.index < live_.size() ? live_[sample.index] : nullptr;
    if (!column) return index_not_begun(sample.index);
    if (std::isnan(sample.value)) continue;
    double whole = std::nearbyint(sample.value * column->lane->per_unit());
    if (!(std::abs(whole) < kMaxScaled)) return out_of_range(*column, sample.value);
    if (time_ms < column->lane->newest_ms())
      return invalid("metric '" + catalogue_->metric_of(column->lane->metric()).name + "': time " +
                     std::to_string(time_ms) + " ms is before the newest row at " +
                     std::to_string(column->lane->newest_ms()) + " ms, nothing appended");
    batch_.push_back({column, static_cast<std::int64_t>(whole)});
  }
  return {};
}

Result<std::uint64_t> Head::append(Time time, std::span<const Sample> samples) {
  std::int64_t ms = to_ms(time);
  if (ms <= 0) return invalid("time " + std::to_string(ms) + " ms is not after the epoch, nothing appended");
  TRY(check_samples(ms, samples));
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const JournalBuffer::Entry& entry = batch_[i];
    if (i + kAhead < batch_.size()) {
      const Column& ahead = *batch_[i + kAhead].column;
      __builtin_prefetch(ahead.lane->near_newest(ahead), 1);
    }
    Lane& lane = *entry.column->lane;
    if (lane.newest_ms() != ms) lane.begin_row(ms);
    lane.set(*entry.column, entry.value);
  }
  journal_.add(ms, batch_);
  return batch_.size();
}

std::vector<Head::DueGroup> Head::due_groups(std::int64_t now_ms, bool all) {
  std::vector<DueGroup> due;
  for (auto& [metric, lane] : lanes_) {
    for (auto& group : lane->groups())
      if (all || lane->due(*group, now_ms)) due.push_back({lane.get(), group.get()});
  }
  return due;
}

void Head::release_ended(const DueGroup& due) {
  for (SeriesId id : due.lane->release_ended(*due.group)) catalogue_->set_column(id, nullptr);
}

std::optional<std::int64_t> Head::oldest_unsealed_ms() const {
  std::optional<std::int64_t> oldest;
  for (const auto& [metric, lane] : lanes_) {
    for (const auto& group : lane->groups()) {
      std::optional<std::int64_t> ms = lane->oldest_unsealed_ms(*group);
      if (ms) oldest = std::min(oldest.value_or(*ms), *ms);
    }
  }
  return oldest;
}

void Head::adopt(std::unique_ptr<Catalogue> catalogue, std::unordered_map<SeriesId, SeriesId>& renumbered,
                 std::unordered_map<MetricId, MetricId>& renumbered_metrics) {
  std::map<MetricId, std::unique_ptr<Lane>> lanes;
  catalogue_->all().for_each([&](SeriesId old_id, const Identity& old) {
    const Metric& metric = catalogue_->metric_of(old.metric);
    MetricId new_metric = catalogue->metric(metric.name, metric.unit, metric.resolution);
    SeriesId id = catalogue->series(new_metric, old.labels());
    renumbered[old_id] = id;
    renumbered_metrics[old.metric] = new_metric;
    if (old.column) old.column->id = id;
    catalogue->set_column(id, old.column);
    if (auto ended_ms = old.ended_ms()) {
      catalogue->set_ended(id, *ended_ms);
    } else {
      catalogue->set_living(id);
    }
  });
  for (auto& [old_metric, lane] : lanes_) {
    auto found = renumbered_metrics.find(old_metric);
    if (found == renumbered_metrics.end()) continue;  // all its series were removed
    lane->set_metric(found->second);
    lanes[found->second] = std::move(lane);
  }
  lanes_ = std::move(lanes);
  catalogue_ = std::move(catalogue);
  journal_.take();
  journal_.break_off();
}

}  // namespace koord::store
