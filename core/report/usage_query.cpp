// SPDX-License-Identifier: Apache-2.0
#include "core/report/usage_query.hpp"

#include <algorithm>
#include <utility>

namespace koord::report {
namespace {

constexpr store::Aggregation kAverage[] = {store::Aggregation::avg};

// Returns the newest row. Labels other than the requested label may have changed within the window; the newest series
// has the current labels.
const store::AggregateRow* newest_of(const std::vector<store::AggregateRow>& rows) {
  auto newest = std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.to < b.to; });
  return newest == rows.end() ? nullptr : &*newest;
}

}  // namespace

std::string_view label_of(const store::AggregateRow& row, std::string_view name) {
  for (const auto& [label, value] : row.labels) {
    if (label == name) return value;
  }
  return {};
}

std::vector<store::AggregateRow> UsageQuery::fresh(const std::string& metric, Duration window,
                                                   std::span<const store::Aggregation> aggregations) const {
  std::vector<store::AggregateRow> rows = cache_.aggregate({metric, {}, now_ - window, now_}, aggregations);
  std::erase_if(rows, [this](const auto& row) { return row.to < now_ - max_age_; });
  return rows;
}

std::vector<store::AggregateRow> UsageQuery::rows(const std::string& metric) const {
  return fresh(metric, span_, kAverage);
}

std::optional<double> UsageQuery::average(const std::string& metric) const {
  const std::vector<store::AggregateRow> found = rows(metric);
  const store::AggregateRow* newest = newest_of(found);
  return newest == nullptr ? std::nullopt : std::optional(newest->values[0]);
}

UsageQuery::ByLabel UsageQuery::averages(const std::string& metric, std::string_view label) const {
  ByLabel averages;
  std::map<std::string_view, Time> newest;
  const std::vector<store::AggregateRow> found = rows(metric);
  for (const store::AggregateRow& row : found) {
    const std::string_view value = label_of(row, label);
    if (value.empty()) continue;
    auto [at, fresh] = newest.try_emplace(value, row.to);
    if (!fresh && row.to <= at->second) continue;
    at->second = row.to;
    averages.insert_or_assign(std::string(value), row.values[0]);
  }
  return averages;
}

std::optional<store::AggregateRow> UsageQuery::window(const std::string& metric, Duration window) const {
  const std::vector<store::AggregateRow> found = fresh(metric, window, kAggregations);
  const store::AggregateRow* newest = newest_of(found);
  return newest == nullptr ? std::nullopt : std::optional(*newest);
}

}  // namespace koord::report
