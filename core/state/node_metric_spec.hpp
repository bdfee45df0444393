// SPDX-License-Identifier: Apache-2.0
// NodeMetricSpec: the values that the cluster requests from this node, and the interval: the spec of its NodeMetric
// over the defaults. A plain value. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"

namespace koord::state {

// The memory that counts as used; the values are those of the object.
enum class MemoryPolicy : std::uint8_t { without_page_cache, with_hot_page_cache, with_page_cache };

std::string_view name_of(MemoryPolicy policy);  // "usageWithoutPageCache"

// Agents report at most this often, whatever the spec requests.
inline constexpr Duration kLeastReportInterval = std::chrono::seconds(30);

struct NodeMetricSpec {
  Duration aggregate = std::chrono::minutes(5);  // the window of the averages; at least a minute
  Duration report = std::chrono::minutes(1);     // how often; at least kLeastReportInterval
  // The windows of the percentiles; may be empty.
  std::vector<Duration> windows = {std::chrono::minutes(5), std::chrono::minutes(10), std::chrono::minutes(30)};
  MemoryPolicy memory = MemoryPolicy::without_page_cache;

  bool operator==(const NodeMetricSpec&) const = default;
};

struct ReadNodeMetricSpec {
  NodeMetricSpec spec;
  std::vector<std::string> problems;  // values that were not taken, and the default holds
};

// A NodeMetric object as JSON (or YAML) text, or "" for none. Missing and invalid members have the default; a time
// below its minimum becomes the minimum. An error: the text is no such object.
Result<ReadNodeMetricSpec> parse_node_metric_spec(std::string_view text);

}  // namespace koord::state
