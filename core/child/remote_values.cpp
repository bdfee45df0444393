// SPDX-License-Identifier: Apache-2.0
#include "core/child/remote_values.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/metric/max_steps.hpp"

namespace koord::child {

void RemoteValues::add_metric(std::uint32_t metric, std::uint32_t type, double resolution) {
  const double most = resolution * metric::kMaxSteps;
  std::unique_lock lock(mutex_);
  // A histogram has no range, because append() accepts no points of it.
  if (type == KOORD_HISTOGRAM)
    metrics_.erase(metric);
  else
    metrics_[metric] = {type == KOORD_COUNTER ? 0 : -most, most};
}

void RemoteValues::add_series(std::uint64_t series, std::uint32_t metric) {
  std::unique_lock lock(mutex_);
  if (auto known = metrics_.find(metric); known != metrics_.end()) series_[series] = known->second;
}

bool RemoteValues::fit(std::span<const koord_point> points) const {
  std::shared_lock lock(mutex_);
  return std::all_of(points.begin(), points.end(), [&](const koord_point& point) {
    auto known = series_.find(point.series);
    if (known == series_.end()) return false;
    return std::isnan(point.value) || (point.value >= known->second.least && point.value <= known->second.most);
  });
}

}  // namespace koord::child
