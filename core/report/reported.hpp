// SPDX-License-Identifier: Apache-2.0
// The last report, as far as it decides whether to report again: read from a NodeMetric of the API server, or taken
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

// The figures that schedulers and the manager count with. Windows of percentiles follow from the same samples as `node`
// and count by their being there alone.
struct UsageSummary {
  std::optional<Amounts> node, system, prod_reclaimable;
  std::map<std::pair<std::string, std::string>, Amounts> pods;  // by namespace and name
  std::map<std::string, Amounts> applications;
  std::set<std::string> windows;  // the durations of node windows that have values, as Go writes them
  bool has_peak = false;

  bool operator==(const UsageSummary&) const = default;
};

UsageSummary usage_of(const NodeMetricStatus& status);

struct Reported {
  std::optional<std::int64_t> update_seconds;  // wall clock; nothing: never reported
  UsageSummary usage;
  std::string degraded;  // the annotation; "" none
};

// A NodeMetric as JSON text. Members that are not what they should be count as missing: then there is something to
// report. An error: the text is no object.
Result<Reported> parse_reported(std::string_view node_metric);

// The change of a report that must be sent at the next opportunity.
inline constexpr double kBeyondMeasure = std::numeric_limits<double>::infinity();

// How far two reports are apart: the greatest change of one figure, in percent of what the node has (of the greater of
// both where that is not known). Infinite when something came or went: a pod, an application, a window, a prediction.
double change(const UsageSummary& before, const UsageSummary& after, const Amounts& capacity);

}  // namespace koord::report
