// SPDX-License-Identifier: Apache-2.0
// Decides which series each level of exporter.detail exports on /metrics. The metrics page calls these pure functions
// for each metric at each scrape. The agent's own plugins export at most kMaxContainerSeries series for a container;
// label values such as the direction of a request count, too. The agent's own series and those of the node are at most
// kMaxNodeSeries together. [any thread]
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

// Returns the same for a family of the host.
metric::HostExported host_exported(config::Detail detail, std::string_view family);

}  // namespace koord::agentd
