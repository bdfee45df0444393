// SPDX-License-Identifier: Apache-2.0
// ScrapedMetrics: an endpoint's metrics on their way into the registry, as those of the external advisor that named it.
// Remembers what was decided of each metric, and which series there are: those that vanish from the endpoint end. Owned by
// a life of the instance. [strand]
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/clock.hpp"
#include "core/exposition/document.hpp"
#include "core/host/home.hpp"
#include "core/metric/registry.hpp"

namespace koord::host {

class ScrapedMetrics {
 public:
  // How the plugin is asked; empty where it has nothing to say.
  struct Mapping {
    std::function<CallResult(std::span<ScrapedMetric>)> metrics;
    std::function<CallResult(std::span<ScrapedSample>)> samples;
  };

  // What became of the samples of one scrape.
  struct Outcome {
    std::uint64_t taken = 0, dropped = 0, left_out = 0;
    std::string left_out_because;  // the first one
    Duration wall{};               // of the plugin's calls
  };

  // The registry outlives it.
  ScrapedMetrics(metric::Registry& registry, std::string owner, Mapping mapping);

  // All or nothing; an error is of the scrape as a whole: the plugin failed, or there are more series than it may have.
  Result<Outcome> take(const exposition::Document& document, Time time);

  // Another endpoint or other rules: all series end, and each metric is asked for anew.
  void forget();

 private:
  struct Seen;
  struct Text {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Live {
    metric::SeriesId id = 0;
    std::uint64_t scrape = 0;  // the last one that had it
  };
  // A metric of the endpoint.
  struct Known {
    exposition::Kind kind{};
    bool dropped = false;
    std::string refusal;  // why the registry does not take it
    std::optional<std::uint32_t> id;
    double max_value = 0;
    std::vector<double> bounds;
    std::unordered_map<std::string, Live, Text, std::equal_to<>> series;
  };
  // A sample that will be recorded.
  struct Picked {
    const exposition::Sample* sample;
    Known* metric;
    double value;
    Live* live = nullptr;
  };

  Result<void> meet_metrics(const exposition::Document& document);
  static std::vector<Seen> look_over(const exposition::Document& document);
  void define(Known& known, const exposition::Metric& metric, const Seen& seen, const std::string& name);
  void pick(const exposition::Document& document);
  Result<void> map_picked(const exposition::Document& document);
  std::string refusal_of(const exposition::Document& document, const Picked& picked) const;
  Result<void> find_series();
  void end_vanished();
  void begin_series(const exposition::Document& document);
  Result<void> record(const exposition::Document& document, Time time);
  void leave_out(const std::string& why);

  metric::Registry& registry_;
  const std::string owner_;
  const Mapping mapping_;
  std::unordered_map<std::string, Known, Text, std::equal_to<>> metrics_;
  std::uint64_t scrape_ = 0;
  std::size_t live_ = 0;

  // Of the scrape that is being taken; kept for their memory.
  Outcome outcome_;
  std::vector<Known*> by_index_;
  std::vector<Picked> picked_;
  std::vector<koord_label> labels_;
  std::vector<ScrapedSample> asked_;
  std::vector<metric::Point> points_;
  std::vector<metric::HistogramPoint> histograms_;
};

// The smallest step of a metric worth keeping: by its unit, and no smaller than what a double of this size can tell. Pure.
double scraped_resolution(std::string_view name, exposition::Kind kind, double largest);

}  // namespace koord::host
