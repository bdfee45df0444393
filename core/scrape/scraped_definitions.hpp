// SPDX-License-Identifier: Apache-2.0
// ScrapedDefinitions: the metrics that endpoints of one plugin have brought in, as the registry knows them. Endpoints
// that have a metric in common share its definition; it stays as long as the plugin runs. Owned by a session of the
// instance. [strand]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/exposition/document.hpp"
#include "core/metric/registry.hpp"
#include "core/service/rights.hpp"

namespace koord::scrape {

class ScrapedDefinitions {
 public:
  struct Definition {
    std::uint32_t id = 0;
    exposition::Kind kind{};
    double max_value = 0;  // the largest value that the registry can hold
    std::vector<double> bounds;
  };

  // The registry outlives it. A third party's plugin brings in no name that is reserved for the host's own plugins.
  ScrapedDefinitions(metric::Registry& registry, std::string owner, service::Rights rights = {})
      : registry_(registry), owner_(std::move(owner)), rights_(std::move(rights)) {}

  // `largest` of its values, and one of its histograms, decide on a metric that is new. Valid as long as this is.
  Result<const Definition*> define(const std::string& name, const exposition::Metric& metric, double largest,
                                   const exposition::Histogram* histogram);

  // Each series has one that gives its values. False: it has one already.
  bool claim(metric::SeriesId series) { return claimed_.insert(series).second; }
  void release(metric::SeriesId series) { claimed_.erase(series); }

 private:
  metric::Registry& registry_;
  const std::string owner_;
  const service::Rights rights_;
  std::unordered_map<std::string, Definition> known_;
  std::unordered_set<metric::SeriesId> claimed_;
};

// The smallest step of a metric worth keeping: by its unit, and no smaller than the precision of a double of this size.
// Pure.
double scraped_resolution(std::string_view name, exposition::Kind kind, double largest);

}  // namespace koord::scrape
