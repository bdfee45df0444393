// SPDX-License-Identifier: Apache-2.0
#include "core/scrape/scraped_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/metric/labels.hpp"
#include "core/service/arguments.hpp"

namespace koord::scrape {
namespace {

using exposition::Document;
using exposition::Sample;

// Definitions are kept while the plugin runs, so the names of an endpoint must not change all the time.
constexpr std::size_t kMaxMetrics = 10'000;

// The maximum of metrics or series in one call to a plugin. It limits the memory of its answers until they are counted.
constexpr std::size_t kAskedAtOnce = 500;

std::string own_name_of_metric(std::string_view name) {
  std::string own(name);
  std::replace(own.begin(), own.end(), ':', '_');
  return own;
}

}  // namespace

// Properties of a metric, computed from its samples.
struct ScrapedMetrics::Seen {
  double largest = 0;  // the largest value; for a histogram, of its sum
  const exposition::Histogram* histogram = nullptr;
};

std::vector<ScrapedMetrics::Seen> ScrapedMetrics::summarize(const Document& document) {
  std::vector<Seen> seen(document.metrics().size());
  for (const Sample& sample : document.samples()) {
    Seen& metric = seen[sample.metric];
    if (sample.is_histogram() && metric.histogram == nullptr) metric.histogram = &document.histogram(sample);
    double value = std::abs(sample.is_histogram() ? document.histogram(sample).sum : sample.value);
    if (std::isfinite(value)) metric.largest = std::max(metric.largest, value);
  }
  return seen;
}

ScrapedMetrics::ScrapedMetrics(metric::Registry& registry, ScrapedDefinitions& definitions, std::string owner,
                               Mapping mapping, std::size_t max_series, ByteShare memory)
    : registry_(registry),
      definitions_(definitions),
      owner_(std::move(owner)),
      mapping_(std::move(mapping)),
      max_series_(max_series),
      held_(std::move(memory)) {}

void ScrapedMetrics::leave_out(const std::string& why) {
  if (outcome_.left_out++ == 0) outcome_.left_out_because = why;
}

Result<ScrapedMetrics::Outcome> ScrapedMetrics::take(const Document& document, Time time) {
  ++scrape_;
  outcome_ = {.left_out = document.left_out(), .left_out_because = document.left_out_because()};
  forget_ended_subjects();
  Result<void> taken = take_samples(document, time);
  if (!taken) forget_new_series();
  if (held_.is_limited()) {
    release_working_memory();
    count_held();
  }
  if (!taken) return std::move(taken).error();
  return outcome_;
}

Result<void> ScrapedMetrics::take_samples(const Document& document, Time time) {
  constexpr std::size_t kBytesOfMetric = sizeof(Seen) + sizeof(ScrapedMetric) + 2 * sizeof(Known*);
  constexpr std::size_t kBytesOfSample = sizeof(Picked) + sizeof(Live*) + sizeof(ScrapedSeries) +
                                         sizeof(ScrapedSample) + 2 * sizeof(metric::HistogramPoint);
  ByteShare working = held_.sibling();
  TRY(working.grow(document.metrics().size() * kBytesOfMetric + document.samples().size() * kBytesOfSample +
                   document.label_count() * sizeof(koord_label)));
  TRY(meet_metrics(document));
  pick(document);
  TRY(find_series());
  TRY(map_series(document));
  TRY(map_samples(document));
  TRY(check_budget());
  end_vanished();
  begin_series(document);
  return record(document, time);
}

// Asks the plugin about new metrics, and defines the metrics that it keeps.
Result<void> ScrapedMetrics::meet_metrics(const Document& document) {
  std::vector<std::uint32_t> unmapped;
  by_index_.clear();
  for (const exposition::Metric& metric : document.metrics()) {
    auto known = metrics_.find(metric.name);
    if (known == metrics_.end()) unmapped.push_back(static_cast<std::uint32_t>(by_index_.size()));
    by_index_.push_back(known == metrics_.end() ? nullptr : &known->second);
  }
  if (metrics_.size() + unmapped.size() > kMaxMetrics)
    return invalid("found " + std::to_string(metrics_.size() + unmapped.size()) +
                   " names of metrics so far, expected at most " + std::to_string(kMaxMetrics));
  const std::vector<Seen> seen = unmapped.empty() ? std::vector<Seen>() : summarize(document);
  const std::size_t at_once = held_.is_limited() ? kAskedAtOnce : unmapped.size();
  for (std::size_t i = 0; i < unmapped.size(); i += at_once)
    TRY(ask_metrics(document, std::span(unmapped).subspan(i, std::min(at_once, unmapped.size() - i)), seen));
  return {};
}

Result<void> ScrapedMetrics::ask_metrics(const Document& document, std::span<const std::uint32_t> unmapped,
                                         std::span<const Seen> seen) {
  std::vector<ScrapedMetric> asked;
  for (std::uint32_t index : unmapped) {
    std::string_view name = document.metrics()[index].name;
    asked.push_back({.name = name, .mapped = own_name_of_metric(name)});
  }
  if (mapping_.metrics) {
    service::CallResult result = mapping_.metrics(asked);
    outcome_.wall += result.wall;
    if (!result.ok()) return invalid("map_metric(): " + describe(result));
  }
  for (std::size_t i = 0; i < unmapped.size(); ++i) {
    TRY(held_.grow(bytes_of_metric(asked[i].name, {})));
    // If a name occurs twice, with two types, the first is used.
    auto [entry, fresh] = metrics_.try_emplace(std::string(asked[i].name));
    Known& known = entry->second;
    by_index_[unmapped[i]] = &known;
    if (!fresh) continue;
    const exposition::Metric& metric = document.metrics()[unmapped[i]];
    known.kind = metric.kind;
    known.dropped = asked[i].dropped();
    if (known.dropped) continue;
    auto definition =
        definitions_.define(asked[i].mapped, metric, seen[unmapped[i]].largest, seen[unmapped[i]].histogram);
    if (definition) {
      known.definition = *definition;
      continue;
    }
    known.refusal = definition.error().message();
    if (Result<void> held = held_.grow(known.refusal.size()); !held) {
      metrics_.erase(entry);  // it is neither defined nor refused
      return held;
    }
  }
  return {};
}

void ScrapedMetrics::pick(const Document& document) {
  picked_.clear();
  picked_.reserve(document.samples().size());
  for (const Sample& sample : document.samples()) {
    Known& known = *by_index_[sample.metric];
    if (known.dropped) {
      ++outcome_.dropped;
    } else {
      picked_.push_back({&sample, &known, sample.value});
    }
  }
}

// Finds the series of each sample. A second sample of a series is left out.
Result<void> ScrapedMetrics::find_series() {
  Result<void> held;
  std::erase_if(picked_, [&](Picked& picked) {
    if (!held) return true;
    auto& series = picked.metric->series;
    auto found = series.find(picked.sample->series);
    if (found == series.end()) {
      held = held_.grow(bytes_of_series(picked.sample->series, {}));
      if (!held) return true;
      found = series.emplace(std::string(picked.sample->series), Live{}).first;
    }
    picked.live = &found->second;
    if (std::exchange(found->second.met, scrape_) != scrape_) return false;
    leave_out("series '" + std::string(picked.sample->series) + "': found it twice, expected it once");
    return true;
  });
  return held;
}

// Forgets series of ended pods and containers, which the registry has ended. The plugin is asked again.
void ScrapedMetrics::forget_ended_subjects() {
  std::erase_if(subjects_, [this](std::uint64_t handle) {
    if (mapping_.subject(handle)) return false;
    for (auto& [name, known] : metrics_) {
      for (auto& [text, live] : known.series) {
        if (live.change.subject != handle || !live.is_mapped) continue;
        if (live.id != 0) let_go(live);
        live = Live{.met = live.met};
      }
    }
    return true;
  });
}

std::span<const koord_label> ScrapedMetrics::abi_labels(const Document& document, const Picked& picked) {
  for (const exposition::Label& label : document.labels(*picked.sample))
    labels_.push_back({service::to_abi(label.name), service::to_abi(label.value)});
  return std::span(labels_).last(picked.sample->n_labels);
}

Result<void> ScrapedMetrics::map_series(const Document& document) {
  std::vector<ScrapedSeries> asked;
  std::vector<Live*> unmapped;
  labels_.clear();
  labels_.reserve(document.label_count());  // spans into it must stay valid
  for (const Picked& picked : picked_) {
    if (!mapping_.series || picked.live->is_mapped) continue;
    asked.push_back({.metric = document.metrics()[picked.sample->metric].name, .labels = abi_labels(document, picked)});
    unmapped.push_back(picked.live);
  }
  const std::size_t at_once = held_.is_limited() ? kAskedAtOnce : asked.size();
  for (std::size_t i = 0; i < asked.size(); i += at_once) {
    const std::size_t n = std::min(at_once, asked.size() - i);
    TRY(ask_series(std::span(asked).subspan(i, n), std::span(unmapped).subspan(i, n)));
  }
  outcome_.dropped += std::erase_if(picked_, [](const Picked& picked) { return picked.live->is_dropped; });
  return {};
}

Result<void> ScrapedMetrics::ask_series(std::span<ScrapedSeries> asked, std::span<Live* const> unmapped) {
  service::CallResult result = mapping_.series(asked);
  outcome_.wall += result.wall;
  if (!result.ok()) return invalid("map_series(): " + describe(result));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    TRY(held_.grow(bytes_of_change(asked[i].change)));
    unmapped[i]->is_mapped = asked[i].status != KOORD_E_AGAIN;
    unmapped[i]->is_dropped = asked[i].status != KOORD_OK;
    unmapped[i]->change = std::move(asked[i].change);
  }
  return {};
}

Result<void> ScrapedMetrics::map_samples(const Document& document) {
  if (mapping_.samples && !picked_.empty()) {
    labels_.clear();
    labels_.reserve(document.label_count());
    asked_.clear();
    asked_.reserve(picked_.size());
    for (const Picked& picked : picked_)
      asked_.push_back({.name = document.metrics()[picked.sample->metric].name,
                        .labels = abi_labels(document, picked),
                        .value = picked.value});
    service::CallResult result = mapping_.samples(asked_);
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
  for (Picked& picked : picked_) picked.live->recorded = scrape_;
  return {};
}

// Returns why the registry would refuse this sample. Such samples are left out, because the registry refuses the whole
// batch.
std::string ScrapedMetrics::refusal_of(const Document& document, const Picked& picked) const {
  const Known& known = *picked.metric;
  const exposition::Metric& metric = document.metrics()[picked.sample->metric];
  const std::string of = "metric '" + std::string(metric.name) + "': ";
  if (!known.refusal.empty()) return known.refusal;
  if (known.kind != metric.kind) return of + "found another type than before, expected one";
  const double max_value = known.definition->max_value;
  if (known.kind == exposition::Kind::histogram) {
    const exposition::Histogram& histogram = document.histogram(*picked.sample);
    if (histogram.bounds != known.definition->bounds)
      return of + "found other bounds than before, expected the same for all its series";
    return std::abs(histogram.sum) > max_value ? of + "found a sum beyond 2^62 times its resolution" : std::string();
  }
  if (known.kind == exposition::Kind::counter && picked.value < 0)
    return of + "found a negative value, expected a counter's";
  return std::abs(picked.value) > max_value ? of + "found a value beyond 2^62 times its resolution" : std::string();
}

void ScrapedMetrics::forget() {
  ++scrape_;
  end_vanished();
  metrics_.clear();
  subjects_.clear();
  count_held();
}

}  // namespace koord::scrape
