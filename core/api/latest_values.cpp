// SPDX-License-Identifier: Apache-2.0
#include "core/api/latest_values.hpp"

#include <cmath>

namespace koord::api {
namespace {

constexpr Duration kWithoutTicks = std::chrono::minutes(1);

}  // namespace

MaxAge two_periods(const std::vector<host::PluginStatus>& plugins) {
  std::map<std::string, Duration, std::less<>> ages;
  for (const host::PluginStatus& plugin : plugins)
    if (plugin.period > Duration::zero()) ages[plugin.id] = 2 * plugin.period;
  return [ages = std::move(ages)](std::string_view owner) {
    auto age = ages.find(owner);
    return age == ages.end() ? kWithoutTicks : age->second;
  };
}

LatestValues latest_values(const metric::Registry& registry, Time now, const MaxAge& max_age) {
  LatestValues values;
  registry.for_each_series([&](const metric::SeriesView& series) {
    if (!series.own_labels.empty() || series.desc.type == metric::Type::histogram) return;
    if (std::isnan(series.value) || now - series.time > max_age(series.owner)) return;
    values[series.subject][series.desc.name] = {series.value, series.time};
  });
  return values;
}

}  // namespace koord::api
