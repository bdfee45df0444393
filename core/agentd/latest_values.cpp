// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/latest_values.hpp"

#include <cmath>

namespace koord::agentd {

LatestValues latest_values(const metric::Registry& registry, Time now, Duration max_age) {
  LatestValues values;
  registry.for_each_series([&](const metric::SeriesView& series) {
    if (!series.own_labels.empty() || series.desc.type == metric::Type::histogram) return;
    if (std::isnan(series.value) || now - series.time > max_age) return;
    values[series.subject][series.desc.name] = series.value;
  });
  return values;
}

}  // namespace koord::agentd
