// SPDX-License-Identifier: Apache-2.0
// The part of the last report that decides whether to report again. It is read from a NodeMetric of the API server, or
// from a status of ours. Plain values. [any thread]
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "core/report/node_metric.hpp"

namespace koord::report {

// The values that schedulers and the manager use. For percentile windows only their existence counts, because they come
// from the same samples as `node`.
struct UsageSummary {
  std::optional<Amounts> node, system, prod_reclaimable;
  std::map<std::pair<std::string, std::string>, Amounts> pods;  // key: namespace and name
  std::map<std::string, Amounts> applications;
  std::set<std::string> windows;  // durations of node windows with values, in Go's format
  bool has_peak = false;

  bool operator==(const UsageSummary&) const = default;
};

UsageSummary usage_of(const NodeMetricStatus& status);

struct Reported {
  std::optional<std::int64_t> update_seconds;  // wall clock; nullopt: not reported so far
  UsageSummary usage;
  std::string degraded;  // the annotation; "": none
};

// Parses a NodeMetric (JSON text). Invalid members count as missing, so they cause a new report. Fails if the text is
// not an object.
Result<Reported> parse_reported(std::string_view node_metric);

// A change that must be reported at the next opportunity.
inline constexpr double kBeyondMeasure = std::numeric_limits<double>::infinity();

// Returns the difference of two reports: the greatest change of a value, in percent of the node's capacity, or of the
// greater value if the capacity is unknown. Infinite if a pod, an application, a window or a prediction appeared or
// disappeared.
double change(const UsageSummary& before, const UsageSummary& after, const Amounts& capacity);

}  // namespace koord::report
