// SPDX-License-Identifier: Apache-2.0
#include "core/metric/series_table.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "core/metric/max_steps.hpp"
#include "core/metric/text_writer.hpp"

namespace koord::metric {
namespace {

std::vector<std::string> render_bounds(const std::vector<double>& bounds) {
  std::vector<std::string> labels;
  for (double bound : bounds) labels.push_back("le=\"" + format_number(bound) + '"');
  if (!bounds.empty()) labels.emplace_back("le=\"+Inf\"");
  return labels;
}

Desc part_of(const Desc& histogram, std::string_view suffix, double resolution) {
  return {.name = histogram.name + std::string(suffix),
          .unit = suffix == "_sum" ? histogram.unit : std::string(),
          .help = histogram.help,
          .type = Type::counter,
          .exported = histogram.exported,
          .resolution = resolution,
          .bounds = {}};
}

void combine(std::size_t& hash, std::size_t more) { hash ^= more + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2); }

}  // namespace

Metric::Metric(std::uint32_t metric_id, Desc description, Owner& metric_owner)
    : id(metric_id),
      desc(std::move(description)),
      owner(metric_owner),
      family(std::string(kFamilyPrefix) + desc.name),
      max_value(desc.resolution * kMaxSteps),
      bucket_labels(render_bounds(desc.bounds)) {
  if (desc.type != Type::histogram) return;
  count = std::make_unique<Metric>(id, part_of(desc, "_count", 1), owner);
  sum = std::make_unique<Metric>(id, part_of(desc, "_sum", desc.resolution), owner);
}

const Labels& Series::own_labels() const {
  static const Labels none;
  return own ? own->labels : none;
}

SeriesTable::SeriesTable(std::string node_name, SeriesObserver* observer)
    : node_name_(std::move(node_name)), observer_(observer), by_identity_(64, Hash{this}, Equal{this}) {}

std::size_t SeriesTable::Hash::operator()(const Key& key) const {
  std::size_t hash = std::hash<const void*>()(key.metric);
  combine(hash, std::hash<std::uint64_t>()(key.handle));
  for (const auto& [name, value] : key.own) {
    combine(hash, std::hash<std::string>()(name));
    combine(hash, std::hash<std::string>()(value));
  }
  return hash;
}

bool SeriesTable::Equal::operator()(const Key& a, const Key& b) const {
  return a.metric == b.metric && a.handle == b.handle && a.own == b.own;
}

SeriesTable::Key SeriesTable::key(std::uint32_t index) const {
  const Series& series = series_[index];
  return {series.metric, series.subject->handle, series.own_labels()};
}

Series* SeriesTable::find(const Metric& metric, std::uint64_t handle, const Labels& own) {
  auto found = by_identity_.find(Key{&metric, handle, own});
  return found == by_identity_.end() ? nullptr : &series_[*found];
}

Series& SeriesTable::begin(Metric& metric, const Subject& subject, Labels own) {
  SubjectRecord& record = subject_record(subject);
  std::uint32_t index = allocate(metric, record, Series::State::live);
  Series& series = series_[index];
  series.own = own_labels_.take(std::move(own), record.text.empty());
  series.place_in_metric = static_cast<std::uint32_t>(metric.series.size());
  series.place_in_subject = static_cast<std::uint32_t>(record.series.size());
  metric.series.push_back(index);
  record.series.push_back(index);
  ++metric.owner.live_series;
  metric.owner.label_bytes += bytes_of(series.own_labels());
  by_identity_.insert(index);
  if (metric.desc.type == Type::histogram)
    begin_histogram(index);
  else
    announce(index);
  return series_[index];
}

void SeriesTable::leave_over(Series& series) {
  if (std::exchange(series.is_stale, true) || series.is_other) return;
  ++series.metric->owner.stale_series;
  series.metric->owner.stale_label_bytes += bytes_of(series.own_labels());
}

void SeriesTable::claim(Series& series) {
  if (!std::exchange(series.is_stale, false) || series.is_other) return;
  --series.metric->owner.stale_series;
  series.metric->owner.stale_label_bytes -= bytes_of(series.own_labels());
}

Series& SeriesTable::other(Metric& metric, const Labels& like) {
  if (metric.other) {
    claim(series_[*metric.other]);
    return series_[*metric.other];
  }
  Labels own = like;
  for (auto& label : own) label.second = "other";
  // Without an own label it would be the series of the node.
  if (own.empty()) own.emplace_back("series", "other");
  Series* existing = find(metric, 0, own);
  Series& series = existing ? *existing : begin(metric, {}, std::move(own));
  claim(series);
  series.is_other = true;
  --metric.owner.live_series;
  metric.owner.label_bytes -= bytes_of(series.own_labels());
  metric.other = index(series);
  return series;
}

void SeriesTable::end(std::uint32_t index) {
  Series& series = series_[index];
  Metric& metric = *series.metric;
  claim(series);
  by_identity_.erase(index);
  leave_lists(series);
  if (series.is_other) {
    metric.other.reset();
  } else {
    --metric.owner.live_series;
    metric.owner.label_bytes -= bytes_of(series.own_labels());
  }
  SubjectRecord* subject = series.subject;
  if (series.histogram) {
    release(series.histogram->count_index);
    release(series.histogram->sum_index);
  } else if (observer_) {
    observer_->on_end(index);
  }
  release(index);
  if (!subject->series.empty()) return;
  subjects_by_text_.erase(subject->text);
  subjects_.erase(subject->handle);
}

void SeriesTable::end_subject(std::uint64_t handle) {
  auto found = subjects_.find(handle);
  if (handle == 0 || found == subjects_.end()) return;
  const std::vector<std::uint32_t> ending = found->second->series;
  for (std::uint32_t index : ending) end(index);
}

SeriesView SeriesTable::view(const Series& series) const {
  double value = series.has_value ? series.value : std::numeric_limits<double>::quiet_NaN();
  const HistogramState* histogram = series.histogram.get();
  return {.id = id(series),
          .owner = series.metric->owner.name,
          .node = node_name_,
          .desc = series.metric->desc,
          .subject = series.subject->handle,
          .subject_labels = series.subject->labels,
          .own_labels = series.own_labels(),
          .value = value,
          .time = series.time,
          .cumulative = histogram && series.has_value ? std::span<const std::uint64_t>(histogram->cumulative)
                                                      : std::span<const std::uint64_t>(),
          .sum = histogram ? histogram->sum : 0};
}

SubjectRecord& SeriesTable::subject_record(const Subject& subject) {
  auto found = subjects_.find(subject.handle);
  if (found != subjects_.end()) return *found->second;
  auto record =
      std::make_unique<SubjectRecord>(SubjectRecord{subject.handle, subject.labels, {}, {}, kind_of(subject)});
  if (!node_name_.empty()) record->text = render_labels({{std::string(kNodeLabel), node_name_}}, true);
  record->text += render_labels(subject.labels, node_name_.empty());
  supersede(record->text);
  subjects_by_text_.emplace(record->text, record.get());
  return *subjects_.emplace(subject.handle, std::move(record)).first->second;
}

// Ends the subject with the same labels. The same thing was reported again under a different handle, and the text must
// not have its lines twice.
void SeriesTable::supersede(const std::string& subject_text) {
  auto same = subjects_by_text_.find(subject_text);
  if (same != subjects_by_text_.end()) end_subject(same->second->handle);
}

std::uint32_t SeriesTable::allocate(Metric& metric, SubjectRecord& subject, Series::State state) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(series_.size()));
    series_.emplace_back();
  }
  std::uint32_t index = free_.back();
  free_.pop_back();
  Series& series = series_[index];
  ++series.generation;
  series.state = state;
  series.metric = &metric;
  series.subject = &subject;
  return index;
}

void SeriesTable::release(std::uint32_t index) {
  if (series_[index].state == Series::State::part && observer_) observer_->on_end(index);
  own_labels_.release(series_[index].own);
  std::uint32_t generation = series_[index].generation;
  series_[index] = Series();
  series_[index].generation = generation;
  free_.push_back(index);
}

void SeriesTable::begin_histogram(std::uint32_t index) {
  Metric& metric = *series_[index].metric;
  SubjectRecord& subject = *series_[index].subject;
  std::uint32_t count = allocate(*metric.count, subject, Series::State::part);
  std::uint32_t sum = allocate(*metric.sum, subject, Series::State::part);
  for (std::uint32_t part : {count, sum}) {
    series_[part].own = own_labels_.share(series_[index].own);
    announce(part);
  }
  series_[index].histogram = std::make_unique<HistogramState>(HistogramState{{}, 0, count, sum});
}

// Removes the series from both lists. The last item of a list replaces it.
void SeriesTable::leave_lists(const Series& series) {
  auto& of_metric = series.metric->series;
  series_[of_metric.back()].place_in_metric = series.place_in_metric;
  of_metric[series.place_in_metric] = of_metric.back();
  of_metric.pop_back();
  auto& of_subject = series.subject->series;
  series_[of_subject.back()].place_in_subject = series.place_in_subject;
  of_subject[series.place_in_subject] = of_subject.back();
  of_subject.pop_back();
}

void SeriesTable::announce(std::uint32_t index) {
  if (observer_) observer_->on_begin(index, view(series_[index]));
}

}  // namespace koord::metric
