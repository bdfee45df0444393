// SPDX-License-Identifier: Apache-2.0
// The newest value of each series without own labels, by subject and metric. A table of pods shows these values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/clock.hpp"
#include "core/host/plugin_status.hpp"
#include "core/metric/registry.hpp"

namespace koord::api {

struct LatestValue {
  double value = 0;
  Time time{};
};
using ValuesByMetric = std::map<std::string, LatestValue>;
using LatestValues = std::unordered_map<std::uint64_t, ValuesByMetric>;  // key: subject; 0 is the node

// Returns the greatest age at which values of a metric's owner still describe the current state.
using MaxAge = std::function<Duration(std::string_view owner)>;

// Returns twice the current period of the plugin; a minute for an owner without ticks.
MaxAge two_periods(const std::vector<host::PluginStatus>& plugins);

// Returns the latest values that are at most max_age old, without histograms.
LatestValues latest_values(const metric::Registry& registry, Time now, const MaxAge& max_age);

}  // namespace koord::api
