// SPDX-License-Identifier: Apache-2.0
// UsageQuery: queries the metric cache for all series of a metric in one call, and keeps only current series. The
// newest sample of a current series is not older than a limit. A series that is no longer measured is unknown. [any
// thread]
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

// The aggregations for each window, in this order.
inline constexpr std::array kAggregations = {store::Aggregation::avg, store::Aggregation::p50, store::Aggregation::p90,
                                             store::Aggregation::p95, store::Aggregation::p99};

class UsageQuery {
 public:
  // `span`: the window of averages. `max_age`: maximum age of the newest sample.
  UsageQuery(const store::Store& cache, Time now, Duration span, Duration max_age)
      : cache_(cache), now_(now), span_(span), max_age_(max_age) {}

  using ByLabel = std::map<std::string, double, std::less<>>;

  // Returns the average of a metric of the node; nullopt without a recent sample.
  std::optional<double> average(const std::string& metric) const;
  // Returns averages by the value of one label. Series without the label are omitted.
  ByLabel averages(const std::string& metric, std::string_view label) const;
  // Returns whole rows, for series that differ in several labels.
  std::vector<store::AggregateRow> rows(const std::string& metric) const;

  // Returns all kAggregations of a metric of the node over a different window, which ends now.
  std::optional<store::AggregateRow> window(const std::string& metric, Duration window) const;

 private:
  std::vector<store::AggregateRow> fresh(const std::string& metric, Duration window,
                                         std::span<const store::Aggregation> aggregations) const;

  const store::Store& cache_;
  Time now_;
  Duration span_, max_age_;
};

// Returns the value of a label; "" if the row lacks it.
std::string_view label_of(const store::AggregateRow& row, std::string_view name);

}  // namespace koord::report
