// SPDX-License-Identifier: Apache-2.0
// The series of plugins' metrics that each level of exporter.detail has on /metrics. A pure rule: the page of metrics
// asks it for each metric at each scrape. It bounds what the agent's own plugins export of a container to
// kMaxContainerSeries, labels such as the direction of a request included. [any thread]
#pragma once

#include <cstddef>

#include "core/config/config.hpp"
#include "core/metric/exported.hpp"

namespace koord::agentd {

// Without series by GPU, by configured hardware event, and of standing verdicts.
inline constexpr std::size_t kMaxContainerSeries = 15;

metric::Exported exported(config::Detail detail, const metric::Desc& desc);

}  // namespace koord::agentd
