// SPDX-License-Identifier: Apache-2.0
#include "core/host/scraped_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/host/arguments.hpp"
#include "core/metric/labels.hpp"

namespace koord::host {
namespace {

using exposition::Document;
using exposition::Kind;
using exposition::Sample;

constexpr double kMaxSteps = 4611686018427387904.0;  // 2^62, the registry's
// Definitions stay as long as the plugin runs, so that names must not come and go.
constexpr std::size_t kMaxMetrics = 10'000;
constexpr double kDoubleSteps = 4503599627370496.0;  // 2^52

metric::Type type_of(Kind kind) {
  switch (kind) {
    case Kind::counter:
      return metric::Type::counter;
    case Kind::histogram:
      return metric::Type::histogram;
    default:
      return metric::Type::gauge;
  }
}

bool is_histogram(const Sample& sample) { return sample.histogram != Sample::kNoHistogram; }

std::string_view without_total(std::string_view name) {
  constexpr std::string_view kTotal = "_total";
  return name.ends_with(kTotal) ? name.substr(0, name.size() - kTotal.size()) : name;
}

std::string unit_of(const exposition::Metric& metric) {
  if (!metric.unit.empty()) return std::string(metric.unit);
  for (std::string_view unit : {"seconds", "bytes"}) {
    if (without_total(metric.name).ends_with(unit)) return std::string(unit);
  }
  return {};
}

// What a label is called here: names that the host sets itself get Prometheus' prefix for such a case.
std::string own_name(std::string_view name) {
  bool taken = name == metric::kNodeLabel || name == "le" || name.starts_with("__") ||
               std::find(std::begin(metric::kSubjectLabels), std::end(metric::kSubjectLabels), name) != std::end(metric::kSubjectLabels);
  return taken ? "exported_" + std::string(name) : std::string(name);
}

std::string own_name_of_metric(std::string_view name) {
  std::string own(name);
  std::replace(own.begin(), own.end(), ':', '_');
  return own;
}

}  // namespace

// What the samples say of their metric.
struct ScrapedMetrics::Seen {
  double largest = 0;  // value, of a histogram its sum
  const exposition::Histogram* histogram = nullptr;
};

std::vector<ScrapedMetrics::Seen> ScrapedMetrics::look_over(const Document& document) {
  std::vector<Seen> seen(document.metrics().size());
  for (const Sample& sample : document.samples()) {
    Seen& metric = seen[sample.metric];
    if (is_histogram(sample) && metric.histogram == nullptr) metric.histogram = &document.histogram(sample);
    double value = std::abs(is_histogram(sample) ? document.histogram(sample).sum : sample.value);
    if (std::isfinite(value)) metric.largest = std::max(metric.largest, value);
  }
  return seen;
}

double scraped_resolution(std::string_view name, Kind kind, double largest) {
  name = without_total(name);
  double resolution = kind == Kind::counter ? 1e-3 : 1e-6;
  if (name.ends_with("seconds")) resolution = kind == Kind::gauge ? 1e-9 : 1e-6;
  if (name.ends_with("bytes")) resolution = 1;
  while (largest > resolution * kDoubleSteps) resolution *= 10;
  return resolution;
}

ScrapedMetrics::ScrapedMetrics(metric::Registry& registry, std::string owner, Mapping mapping)
    : registry_(registry), owner_(std::move(owner)), mapping_(std::move(mapping)) {}

void ScrapedMetrics::leave_out(const std::string& why) {
  if (outcome_.left_out++ == 0) outcome_.left_out_because = why;
}

Result<ScrapedMetrics::Outcome> ScrapedMetrics::take(const Document& document, Time time) {
  ++scrape_;
  outcome_ = {.left_out = document.left_out(), .left_out_because = document.left_out_because()};
  TRY(meet_metrics(document));
  pick(document);
  TRY(map_picked(document));
  TRY(find_series());
  end_vanished();
  begin_series(document);
  TRY(record(document, time));
  return outcome_;
}

// Asks the plugin about those that were not there before, and defines what it keeps.
Result<void> ScrapedMetrics::meet_metrics(const Document& document) {
  std::vector<std::uint32_t> strangers;
  by_index_.clear();
  for (const exposition::Metric& metric : document.metrics()) {
    auto known = metrics_.find(metric.name);
    if (known == metrics_.end()) strangers.push_back(static_cast<std::uint32_t>(by_index_.size()));
    by_index_.push_back(known == metrics_.end() ? nullptr : &known->second);
  }
  if (metrics_.size() + strangers.size() > kMaxMetrics)
    return invalid("found " + std::to_string(metrics_.size() + strangers.size()) + " names of metrics so far, expected at most " + std::to_string(kMaxMetrics));
  std::vector<ScrapedMetric> asked;
  for (std::uint32_t index : strangers) {
    std::string_view name = document.metrics()[index].name;
    asked.push_back({.name = name, .mapped = own_name_of_metric(name)});
  }
  if (mapping_.metrics && !asked.empty()) {
    CallResult result = mapping_.metrics(asked);
    outcome_.wall += result.wall;
    if (!result.ok()) return invalid("map_metric(): " + describe(result));
  }
  const std::vector<Seen> seen = strangers.empty() ? std::vector<Seen>() : look_over(document);
  for (std::size_t i = 0; i < strangers.size(); ++i) {
    // A name that comes twice, as two kinds, is known by the first.
    auto [entry, fresh] = metrics_.try_emplace(std::string(asked[i].name));
    by_index_[strangers[i]] = &entry->second;
    if (!fresh) continue;
    entry->second.kind = document.metrics()[strangers[i]].kind;
    entry->second.dropped = asked[i].dropped();
    if (!asked[i].dropped()) define(entry->second, document.metrics()[strangers[i]], seen[strangers[i]], asked[i].mapped);
  }
  return {};
}

void ScrapedMetrics::define(Known& known, const exposition::Metric& metric, const Seen& seen, const std::string& name) {
  metric::Desc desc{.name = name,
                    .unit = unit_of(metric),
                    .help = std::string(metric.help),
                    .type = type_of(metric.kind),
                    .resolution = scraped_resolution(metric.name, metric.kind, seen.largest),
                    .bounds = {}};
  if (seen.histogram != nullptr) desc.bounds = seen.histogram->bounds;
  known.bounds = desc.bounds;
  known.max_value = desc.resolution * kMaxSteps;
  Result<std::uint32_t> id = registry_.define(owner_, desc);
  if (id)
    known.id = *id;
  else
    known.refusal = id.error().message();
}

void ScrapedMetrics::pick(const Document& document) {
  picked_.clear();
  for (const Sample& sample : document.samples()) {
    Known& known = *by_index_[sample.metric];
    if (known.dropped) {
      ++outcome_.dropped;
    } else {
      picked_.push_back({&sample, &known, sample.value});
    }
  }
}

Result<void> ScrapedMetrics::map_picked(const Document& document) {
  if (mapping_.samples && !picked_.empty()) {
    labels_.clear();
    asked_.clear();
    for (const Picked& picked : picked_) {
      for (const exposition::Label& label : document.labels(*picked.sample)) labels_.push_back({to_abi(label.name), to_abi(label.value)});
    }
    const koord_label* at = labels_.data();
    for (const Picked& picked : picked_) {
      asked_.push_back({.name = document.metrics()[picked.sample->metric].name, .labels = {at, picked.sample->n_labels}, .value = picked.value});
      at += picked.sample->n_labels;
    }
    CallResult result = mapping_.samples(asked_);
    outcome_.wall += result.wall;
    if (!result.ok()) return invalid("map_sample(): " + describe(result));
    for (std::size_t i = 0; i < asked_.size(); ++i) picked_[i].value = asked_[i].value;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < picked_.size(); ++i) {
    if (mapping_.samples && asked_[i].dropped()) {
      ++outcome_.dropped;
    } else if (std::string why = refusal_of(document, picked_[i]); !why.empty()) {
      leave_out(why);
    } else {
      picked_[kept++] = picked_[i];
    }
  }
  picked_.resize(kept);
  return {};
}

// The registry takes a batch whole or not at all, so what it would refuse is kept from it.
std::string ScrapedMetrics::refusal_of(const Document& document, const Picked& picked) const {
  const Known& known = *picked.metric;
  const exposition::Metric& metric = document.metrics()[picked.sample->metric];
  const std::string of = "metric '" + std::string(metric.name) + "': ";
  if (!known.refusal.empty()) return known.refusal;
  if (known.kind != metric.kind) return of + "found another type than before, expected one";
  if (known.kind == Kind::histogram) {
    const exposition::Histogram& histogram = document.histogram(*picked.sample);
    if (histogram.bounds != known.bounds) return of + "found other bounds than before, expected the same for all its series";
    return std::abs(histogram.sum) > known.max_value ? of + "found a sum beyond 2^62 times its resolution" : std::string();
  }
  if (known.kind == Kind::counter && picked.value < 0) return of + "found a negative value, expected a counter's";
  return std::abs(picked.value) > known.max_value ? of + "found a value beyond 2^62 times its resolution" : std::string();
}

// Finds the series of each sample; a second sample of one series is left out.
Result<void> ScrapedMetrics::find_series() {
  std::size_t kept = 0;
  for (Picked& picked : picked_) {
    auto& series = picked.metric->series;
    auto found = series.find(picked.sample->series);
    if (found == series.end()) found = series.emplace(std::string(picked.sample->series), Live{}).first;
    if (found->second.scrape == scrape_) {
      leave_out("series '" + std::string(picked.sample->series) + "': found it twice, expected it once");
      continue;
    }
    found->second.scrape = scrape_;
    picked.live = &found->second;
    picked_[kept++] = picked;
  }
  picked_.resize(kept);
  const std::size_t others = registry_.live_series(owner_) - std::min(live_, registry_.live_series(owner_));
  const std::size_t budget = registry_.budget(owner_);
  if (picked_.size() + others <= budget) return {};
  // What was met just now has no series yet and must not look as if it had been there.
  for (auto& [name, known] : metrics_) std::erase_if(known.series, [](const auto& entry) { return entry.second.id == 0; });
  return invalid("found " + std::to_string(picked_.size() + others) + " series, expected at most " + std::to_string(budget) + " (maxSeries)");
}

void ScrapedMetrics::end_vanished() {
  for (auto& [name, known] : metrics_) {
    std::erase_if(known.series, [&](const auto& entry) {
      if (entry.second.scrape == scrape_) return false;
      if (entry.second.id != 0) {
        registry_.end_series(entry.second.id);
        --live_;
      }
      return true;
    });
  }
}

void ScrapedMetrics::begin_series(const Document& document) {
  for (Picked& picked : picked_) {
    if (picked.live->id != 0) continue;
    metric::Labels labels;
    for (const exposition::Label& label : document.labels(*picked.sample)) labels.emplace_back(own_name(label.name), label.value);
    Result<metric::SeriesId> id = registry_.series(owner_, *picked.metric->id, {}, std::move(labels));
    if (id) {
      picked.live->id = *id;
      ++live_;
    } else {
      leave_out("series '" + std::string(picked.sample->series) + "': " + id.error().message());
    }
  }
}

Result<void> ScrapedMetrics::record(const Document& document, Time time) {
  points_.clear();
  histograms_.clear();
  for (const Picked& picked : picked_) {
    if (picked.live->id == 0) continue;
    ++outcome_.taken;
    if (!is_histogram(*picked.sample)) {
      points_.push_back({picked.live->id, picked.value});
      continue;
    }
    const exposition::Histogram& histogram = document.histogram(*picked.sample);
    histograms_.push_back({picked.live->id, histogram.cumulative.data(), histogram.cumulative.size(), histogram.sum});
  }
  std::size_t stale = 0;
  if (!points_.empty()) stale += TRY(registry_.record(owner_, time, points_)).stale;
  if (!histograms_.empty()) stale += TRY(registry_.record_histograms(owner_, time, histograms_)).stale;
  // Two samples whose labels stand in another order are one series, and it ended with one of them: begin anew.
  if (stale > 0) forget();
  return {};
}

void ScrapedMetrics::forget() {
  ++scrape_;
  end_vanished();
  metrics_.clear();
}

}  // namespace koord::host
