// SPDX-License-Identifier: Apache-2.0
// Decides which series each level of exporter.detail exports on /metrics. The metrics page calls these pure functions
// for each metric at each scrape. The agent's own plugins export at most kMaxContainerSeries series for a container.
// Each value of a label, such as the direction of a request, counts as a series. The agent's own series and the series
// of the node are together at most kMaxNodeSeries. [any thread]
#pragma once

#include <cstddef>
#include <string_view>

#include "core/config/config.hpp"
#include "core/metric/exported.hpp"

namespace koord::agentd {

// Does not include series for each GPU or configured hardware event, and series of current verdicts.
inline constexpr std::size_t kMaxContainerSeries = 15;
// For a node with all plugins, one disk, one network interface and one NUMA node. Does not include series of external
// advisors and third parties.
inline constexpr std::size_t kMaxNodeSeries = 300;

// Returns whether a plugin's metric is exported at this level.
metric::Exported exported(config::Detail detail, const metric::Desc& desc);

// Returns when a family of the host is exported at this level.
metric::HostExported host_exported(config::Detail detail, std::string_view family);

}  // namespace koord::agentd
