// SPDX-License-Identifier: Apache-2.0
// The newest value of every series without labels of its own, by subject and metric: the figures of a table of pods.
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
using LatestValues = std::unordered_map<std::uint64_t, ValuesByMetric>;  // by subject; 0 is the node

// How old the values of a metric's owner may be and still say how things are.
using MaxAge = std::function<Duration(std::string_view owner)>;

// Two of the periods in which the plugin is called now; a minute for an owner without ticks.
MaxAge two_periods(const std::vector<host::PluginStatus>& plugins);

// Older values are left out, and so are histograms.
LatestValues latest_values(const metric::Registry& registry, Time now, const MaxAge& max_age);

}  // namespace koord::api
