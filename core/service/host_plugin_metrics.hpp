// SPDX-License-Identifier: Apache-2.0
// The names of metrics that are reserved for the host's own plugins: third parties can neither define nor scrape them.
// A test compares them with the metrics in the READMEs of these plugins. Pure. [any thread]
#pragma once

#include <span>
#include <string_view>

namespace koord::service {

// Patterns; one that ends in '*' reserves all names that begin so. A pattern of the first list is reserved with each of
// kMetricLevels in front.
std::span<const std::string_view> reserved_level_metrics();
std::span<const std::string_view> reserved_metrics();
inline constexpr std::string_view kMetricLevels[] = {"node_", "pod_", "container_", "sys_"};

bool fits_metric_pattern(std::string_view pattern, std::string_view name);
bool is_metric_of_host_plugin(std::string_view name);

}  // namespace koord::service
