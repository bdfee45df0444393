// SPDX-License-Identifier: Apache-2.0
// The series that each level of exporter.detail has on /metrics. A pure rule: the page of metrics asks it for each
// metric at each scrape. It bounds what the agent's own plugins export of a container to kMaxContainerSeries, labels
// such as the direction of a request included, and the agent's own series and those of the node together to
// kMaxNodeSeries. [any thread]
#pragma once

#include <cstddef>
#include <string_view>

#include "core/config/config.hpp"
#include "core/metric/exported.hpp"

namespace koord::agentd {

// Without series by GPU, by configured hardware event, and of standing verdicts.
inline constexpr std::size_t kMaxContainerSeries = 15;
// With all plugins, of a node with one disk, network interface and NUMA node. Without external advisors, and third
// parties' series.
inline constexpr std::size_t kMaxNodeSeries = 300;

metric::Exported exported(config::Detail detail, const metric::Desc& desc);

// The same for the host's own families.
metric::HostExported host_exported(config::Detail detail, std::string_view family);

}  // namespace koord::agentd
