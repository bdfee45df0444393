// SPDX-License-Identifier: Apache-2.0
// UsageQuery: asks the metric cache for all series of a metric in one call, and keeps the current ones: their newest
// sample is not older than a bound. A series that is not measured any more is unknown. [any thread]
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/report/usage.hpp"
#include "core/store/store.hpp"

namespace koord::report {

// For each window, in this order.
inline constexpr std::array kAggregations = {store::Aggregation::avg, store::Aggregation::p50, store::Aggregation::p90,
                                             store::Aggregation::p95, store::Aggregation::p99};

class UsageQuery {
 public:
  // Averages are of `span`; the newest sample is at most `max_age` old.
  UsageQuery(const store::Store& cache, Time now, Duration span, Duration max_age)
      : cache_(cache), now_(now), span_(span), max_age_(max_age) {}

  using ByLabel = std::map<std::string, double, std::less<>>;

  // The average of a metric of the node; nothing: no fresh sample.
  std::optional<double> average(const std::string& metric) const;
  // Averages by the value of one label; series without it are left out.
  ByLabel averages(const std::string& metric, std::string_view label) const;
  // Whole rows, of series that differ in several labels.
  std::vector<store::AggregateRow> rows(const std::string& metric) const;

  // All of kAggregations of one of the node's metrics over another window, which ends now.
  std::optional<store::AggregateRow> window(const std::string& metric, Duration window) const;

 private:
  std::vector<store::AggregateRow> fresh(const std::string& metric, Duration window,
                                         std::span<const store::Aggregation> aggregations) const;

  const store::Store& cache_;
  Time now_;
  Duration span_, max_age_;
};

// "" where a row has no such label.
std::string_view label_of(const store::AggregateRow& row, std::string_view name);

}  // namespace koord::report
