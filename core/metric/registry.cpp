// SPDX-License-Identifier: Apache-2.0
#include "core/metric/registry.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "core/metric/definitions.hpp"
#include "core/metric/recorder.hpp"
#include "core/metric/series_table.hpp"
#include "core/metric/text_writer.hpp"

namespace koord::metric {

struct Registry::State {
  State(std::string node_name, SeriesObserver* observer)
      : table(std::move(node_name), observer), recorder(table, observer) {}

  const Series* find_live(SeriesId id) const;
  std::vector<Metric*> metrics_of(std::string_view owner) const;
  void end_metric(const Metric& metric);
  void write_family(TextWriter& writer, const Metric& metric, const Exported& exported, Time now) const;
  static void write_value(TextWriter& writer, const Series& series);
  static void write_histogram(TextWriter& writer, const Series& series);

  mutable std::mutex mutex;  // guards all members below
  Definitions definitions;
  SeriesTable table;
  Recorder recorder;
  mutable std::size_t last_text_size = 0;
};

const Series* Registry::State::find_live(SeriesId id) const {
  const std::uint32_t index = index_of(id);
  if (index >= table.size()) return nullptr;
  const Series& series = table[index];
  return series.state == Series::State::live && table.id(series) == id ? &series : nullptr;
}

std::vector<Metric*> Registry::State::metrics_of(std::string_view owner) const {
  std::vector<Metric*> found;
  for (const auto& [name, metric] : definitions.metrics())
    if (metric->owner.name == owner) found.push_back(metric.get());
  return found;
}

void Registry::State::end_metric(const Metric& metric) {
  while (!metric.series.empty()) table.end(metric.series.back());
  definitions.forget(metric);
}

namespace {

Error unknown_owner(std::string_view owner) { return invalid("'" + std::string(owner) + "' has defined no metric"); }

Result<Subject> checked(const Subject& subject) {
  Labels labels = TRY(checked_subject_labels(subject.labels));
  if (subject.handle != 0 && labels.empty())
    return invalid("subject " + std::to_string(subject.handle) +
                   " has no labels, expected those of a pod or container");
  if (subject.handle == 0 && !labels.empty()) return invalid("the node as subject has labels, expected none");
  return Subject{subject.handle, std::move(labels)};
}

}  // namespace

Registry::Registry(std::string node_name, SeriesObserver* observer)
    : state_(std::make_unique<State>(std::move(node_name), observer)) {}

Registry::~Registry() = default;

Result<std::uint32_t> Registry::define(std::string_view name, const Desc& desc, bool takes_name) {
  std::lock_guard lock(state_->mutex);
  Owner& owner = state_->definitions.owner(name);
  if (owner.in_handover) {
    TRY(check(desc));
    while (Metric* old = state_->definitions.in_the_way(owner, desc)) {
      if (!old->is_stale) break;  // the new owner defines the metric twice, which is an error
      state_->end_metric(*old);
      owner.lost_metric = true;
    }
  }
  if (takes_name) {
    TRY(check(desc));
    while (Metric* other = state_->definitions.taken_by_other(owner, desc)) {
      if (other->keeps_name) break;
      state_->end_metric(*other);
    }
  }
  std::uint32_t id = TRY(state_->definitions.define(owner, desc));
  state_->definitions.find(id)->is_stale = false;
  state_->definitions.find(id)->keeps_name = takes_name;
  return id;
}

Result<SeriesId> Registry::series(std::string_view owner, std::uint32_t id, const Subject& subject, Labels own) {
  Subject about = TRY(checked(subject));
  Labels labels = TRY(checked_own_labels(std::move(own)));
  std::lock_guard lock(state_->mutex);
  SeriesTable& table = state_->table;
  Metric* metric = state_->definitions.find(id);
  if (!metric || metric->owner.name != owner)
    return invalid("'" + std::string(owner) + "' has defined no metric " + std::to_string(id));
  if (Series* known = table.find(*metric, about.handle, labels)) {
    table.claim(*known);
    return table.id(*known);
  }
  Owner& of = metric->owner;
  // Series that only the old owner has do not count against the budget of the new owner.
  const bool has_room = of.live_series - of.stale_series < of.budget;
  of.lacks_label_room =
      has_room && of.label_bytes - of.stale_label_bytes + bytes_of(labels) > max_label_bytes(of.budget);
  if (has_room && !of.lacks_label_room) return table.id(table.begin(*metric, about, std::move(labels)));
  ++of.dropped_series;
  return table.id(table.other(*metric, labels));
}

Result<RecordSummary> Registry::record(std::string_view owner, Time time, std::span<const Point> points) {
  std::lock_guard lock(state_->mutex);
  const Owner* known = state_->definitions.find_owner(owner);
  if (!known) return unknown_owner(owner);
  return state_->recorder.record(*known, time, points);
}

Result<RecordSummary> Registry::record_histograms(std::string_view owner, Time time,
                                                  std::span<const HistogramPoint> points) {
  std::lock_guard lock(state_->mutex);
  const Owner* known = state_->definitions.find_owner(owner);
  if (!known) return unknown_owner(owner);
  return state_->recorder.record_histograms(*known, time, points);
}

void Registry::end_series(SeriesId id) {
  std::lock_guard lock(state_->mutex);
  if (const Series* series = state_->find_live(id)) state_->table.end(state_->table.index(*series));
}

Result<void> Registry::end_series(std::string_view owner, SeriesId id) {
  std::lock_guard lock(state_->mutex);
  const Series* series = state_->find_live(id);
  if (!series) return {};
  const Metric& metric = *series->metric;
  if (metric.owner.name != owner)
    return invalid("a series of metric '" + metric.desc.name + "' belongs to '" + metric.owner.name + "', not to '" +
                   std::string(owner) + "'");
  state_->table.end(index_of(id));
  return {};
}

void Registry::end_subject(std::uint64_t handle) {
  std::lock_guard lock(state_->mutex);
  state_->table.end_subject(handle);
}

void Registry::end_owner(std::string_view name) {
  std::lock_guard lock(state_->mutex);
  const Owner* owner = state_->definitions.find_owner(name);
  if (!owner) return;
  for (const auto& [metric_name, metric] : state_->definitions.metrics()) {
    if (&metric->owner != owner) continue;
    while (!metric->series.empty()) state_->table.end(metric->series.back());
  }
  state_->definitions.forget(*owner);
}

void Registry::begin_handover(std::string_view name) {
  std::lock_guard lock(state_->mutex);
  Owner& owner = state_->definitions.owner(name);
  owner.in_handover = true;
  owner.lost_metric = false;
  for (Metric* metric : state_->metrics_of(name)) {
    metric->is_stale = true;
    for (std::uint32_t index : metric->series) state_->table.leave_over(state_->table[index]);
  }
}

void Registry::end_handover(std::string_view name) {
  std::lock_guard lock(state_->mutex);
  Owner& owner = state_->definitions.owner(name);
  if (!std::exchange(owner.in_handover, false)) return;
  for (Metric* metric : state_->metrics_of(name)) {
    if (metric->is_stale) {
      state_->end_metric(*metric);
      continue;
    }
    const std::vector<std::uint32_t> series = metric->series;
    for (std::uint32_t index : series)
      if (state_->table[index].is_stale) state_->table.end(index);
  }
}

bool Registry::abandon_handover(std::string_view name) {
  std::lock_guard lock(state_->mutex);
  Owner& owner = state_->definitions.owner(name);
  owner.in_handover = false;
  for (Metric* metric : state_->metrics_of(name)) {
    metric->is_stale = false;
    for (std::uint32_t index : metric->series) state_->table.claim(state_->table[index]);
  }
  return !std::exchange(owner.lost_metric, false);
}

void Registry::set_budget(std::string_view owner, std::size_t series) {
  std::lock_guard lock(state_->mutex);
  state_->definitions.owner(owner).budget = series;
}

std::size_t Registry::budget(std::string_view name) const {
  std::lock_guard lock(state_->mutex);
  const Owner* owner = state_->definitions.find_owner(name);
  return owner ? owner->budget : kDefaultSeriesBudget;
}

bool Registry::lacks_label_room(std::string_view name) const {
  std::lock_guard lock(state_->mutex);
  const Owner* owner = state_->definitions.find_owner(name);
  return owner && owner->lacks_label_room;
}

void Registry::set_stale_after(std::string_view owner, Duration stale_after) {
  std::lock_guard lock(state_->mutex);
  state_->definitions.owner(owner).stale_after = stale_after;
}

std::size_t Registry::live_series(std::string_view name) const {
  std::lock_guard lock(state_->mutex);
  const Owner* owner = state_->definitions.find_owner(name);
  return owner ? owner->live_series : 0;
}

std::uint64_t Registry::dropped_series(std::string_view name) const {
  std::lock_guard lock(state_->mutex);
  const Owner* owner = state_->definitions.find_owner(name);
  return owner ? owner->dropped_series : 0;
}

void Registry::write_text(std::string& out, Time now, const ExportRule& rule) const {
  std::lock_guard lock(state_->mutex);
  std::size_t before = out.size();
  // Reserves slightly more than the last text needed, so the text is not copied while it grows.
  out.reserve(before + state_->last_text_size + state_->last_text_size / 16);
  TextWriter writer(out);
  for (const auto& [name, metric] : state_->definitions.metrics()) {
    if (!metric->desc.exported) continue;
    state_->write_family(writer, *metric, rule ? rule(metric->desc) : Exported(), now);
  }
  writer.flush();
  state_->last_text_size = out.size() - before;
}

void Registry::for_each_series(const std::function<void(const SeriesView&)>& visit) const {
  std::lock_guard lock(state_->mutex);
  for (const auto& [name, metric] : state_->definitions.metrics()) {
    for (std::uint32_t index : metric->series) visit(state_->table.view(state_->table[index]));
  }
}

void Registry::State::write_family(TextWriter& writer, const Metric& metric, const Exported& exported, Time now) const {
  if (exported == kNotExported) return;
  bool begun = false;
  for (std::uint32_t index : metric.series) {
    const Series& series = table[index];
    if (!series.has_value || now - series.time > metric.owner.stale_after) continue;
    if (!exported.has(series.subject->kind, series.value)) continue;
    if (!begun) writer.header(metric.family, metric.desc.help, metric.desc.type);
    begun = true;
    if (series.histogram)
      write_histogram(writer, series);
    else
      write_value(writer, series);
  }
}

void Registry::State::write_value(TextWriter& writer, const Series& series) {
  const std::string& of_subject = series.subject->text;
  bool labelled = !of_subject.empty() || !series.own_text().empty();
  writer.text(series.metric->family).text(of_subject).text(series.own_text()).text(labelled ? "} " : " ");
  writer.number(series.value).text("\n");
}

void Registry::State::write_histogram(TextWriter& writer, const Series& series) {
  const Metric& metric = *series.metric;
  const std::string& of_subject = series.subject->text;
  bool labelled = !of_subject.empty() || !series.own_text().empty();
  for (std::size_t i = 0; i < metric.bucket_labels.size(); ++i) {
    writer.text(metric.family).text("_bucket").text(of_subject).text(series.own_text()).text(labelled ? "," : "{");
    writer.text(metric.bucket_labels[i]).text("} ").number(series.histogram->cumulative[i]).text("\n");
  }
  auto begin_line = [&](std::string_view suffix) -> TextWriter& {
    writer.text(metric.family).text(suffix).text(of_subject).text(series.own_text());
    return writer.text(labelled ? "} " : " ");
  };
  begin_line("_sum").number(series.histogram->sum).text("\n");
  begin_line("_count").number(series.histogram->cumulative.back()).text("\n");
}

}  // namespace koord::metric
