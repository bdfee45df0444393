// SPDX-License-Identifier: Apache-2.0
// The newest value of every series without labels of its own, by subject and metric: what a table of pods shows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "core/base/clock.hpp"
#include "core/metric/registry.hpp"

namespace koord::agentd {

using ValuesByMetric = std::map<std::string, double>;
using LatestValues = std::unordered_map<std::uint64_t, ValuesByMetric>;  // by subject; 0 is the node

// Values older than `max_age` are left out: they no longer say how things are. Histograms are, too.
LatestValues latest_values(const metric::Registry& registry, Time now, Duration max_age);

}  // namespace koord::agentd
