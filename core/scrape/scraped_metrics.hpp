// SPDX-License-Identifier: Apache-2.0
// ScrapedMetrics: an endpoint's metrics on their way into the registry, as those of the external advisor that named it.
// Remembers the decisions about each metric and each series: those that vanish from the endpoint end. Owned by a
// session of the instance. [strand]
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/byte_budget.hpp"
#include "core/base/clock.hpp"
#include "core/exposition/document.hpp"
#include "core/metric/registry.hpp"
#include "core/scrape/scraped_definitions.hpp"
#include "core/scrape/scraped_items.hpp"
#include "core/service/call_result.hpp"

namespace koord::scrape {

class ScrapedMetrics {
 public:
  // How the plugin is asked; empty where it has nothing to say.
  struct Mapping {
    std::function<service::CallResult(std::span<ScrapedMetric>)> metrics;
    std::function<service::CallResult(std::span<ScrapedSeries>)> series;
    std::function<service::CallResult(std::span<ScrapedSample>)> samples;
    // The subject of this handle; nothing: it has ended.
    std::function<std::optional<metric::Subject>(std::uint64_t handle)> subject;
  };

  // Results for the samples of one scrape.
  struct Outcome {
    std::uint64_t taken = 0, dropped = 0, left_out = 0;
    std::string left_out_because;  // the first one
    Duration wall{};               // of the plugin's calls
  };

  static constexpr std::size_t kNoLimit = SIZE_MAX;

  // The registry and the definitions outlive it; `owner` is the definitions'. `memory`: its share of what the plugin's
  // scrapes may take; a limited one keeps no memory between scrapes except for the names of metrics and series.
  ScrapedMetrics(metric::Registry& registry, ScrapedDefinitions& definitions, std::string owner, Mapping mapping,
                 std::size_t max_series = kNoLimit, ByteShare memory = {});

  // All or nothing; an error is of the scrape as a whole: the plugin failed, or there are more series or bytes than it
  // may have.
  Result<Outcome> take(const exposition::Document& document, Time time);

  // Another endpoint or other rules: all series end, and each metric is asked for again.
  void forget();

 private:
  struct Seen;
  struct Text {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  // A series of the endpoint.
  struct Live {
    metric::SeriesId id = 0;     // 0: none, or it has ended
    std::uint64_t met = 0;       // the last scrape that had it
    std::uint64_t recorded = 0;  // the last scrape that it was taken from
    bool is_mapped = false;      // the plugin has decided about it
    bool is_dropped = false;     // and that is nothing
    SeriesChange change = {};
  };
  // A metric of the endpoint.
  struct Known {
    exposition::Kind kind{};
    bool dropped = false;
    std::string refusal;  // why the registry does not take it
    const ScrapedDefinitions::Definition* definition = nullptr;
    std::unordered_map<std::string, Live, Text, std::equal_to<>> series;
  };
  // A sample that will be recorded.
  struct Picked {
    const exposition::Sample* sample;
    Known* metric;
    double value;
    Live* live = nullptr;
  };

  Result<void> take_samples(const exposition::Document& document, Time time);
  Result<void> meet_metrics(const exposition::Document& document);
  Result<void> ask_metrics(const exposition::Document& document, std::span<const std::uint32_t> unmapped,
                           std::span<const Seen> seen);
  static std::vector<Seen> summarize(const exposition::Document& document);
  void pick(const exposition::Document& document);
  Result<void> find_series();
  void forget_ended_subjects();
  Result<void> map_series(const exposition::Document& document);
  Result<void> ask_series(std::span<ScrapedSeries> asked, std::span<Live* const> unmapped);
  Result<void> map_samples(const exposition::Document& document);
  std::string refusal_of(const exposition::Document& document, const Picked& picked) const;
  Result<void> check_budget();
  static std::size_t bytes_of_metric(std::string_view name, std::string_view refusal);
  static std::size_t bytes_of_change(const SeriesChange& change);
  static std::size_t bytes_of_series(std::string_view series, const SeriesChange& change);
  void forget_new_series();
  void count_held();
  void release_working_memory();
  void end_vanished();
  void let_go(Live& live);
  void begin_series(const exposition::Document& document);
  metric::Labels labels_of(const exposition::Document& document, const Picked& picked) const;
  Result<void> record(const exposition::Document& document, Time time);
  void leave_out(const std::string& why);
  std::span<const koord_label> abi_labels(const exposition::Document& document, const Picked& picked);

  metric::Registry& registry_;
  ScrapedDefinitions& definitions_;
  const std::string owner_;
  const Mapping mapping_;
  const std::size_t max_series_;
  ByteShare held_;  // by metrics_
  std::unordered_map<std::string, Known, Text, std::equal_to<>> metrics_;
  std::uint64_t scrape_ = 0;
  std::size_t live_ = 0;
  std::unordered_set<std::uint64_t> subjects_;  // of living series

  // Results of the scrape that is being taken; kept for their memory.
  Outcome outcome_;
  std::vector<Known*> by_index_;
  std::vector<Picked> picked_;
  std::vector<koord_label> labels_;
  std::vector<ScrapedSample> asked_;
  std::vector<metric::Point> points_;
  std::vector<metric::HistogramPoint> histograms_;
};

}  // namespace koord::scrape
