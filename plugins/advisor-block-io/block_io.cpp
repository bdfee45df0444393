// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-block-io/block_io.hpp"

#include <algorithm>

namespace koord::block_io {
namespace {

Counters counters_of(const cgroup::IoStat& stat) {
  return {stat.read_bytes, stat.write_bytes, stat.read_ios, stat.write_ios};
}

// Returns whether a counter is above 0. An unknown counter is INT64_MIN.
bool is_used(const Counters& counters) {
  return std::any_of(counters.begin(), counters.end(), [](std::int64_t value) { return value > 0; });
}

}  // namespace

std::vector<Row> DeviceTotals::update(std::span<const cgroup::IoStat> stats) {
  std::vector<Row> rows;
  for (const cgroup::IoStat& stat : stats) {
    const DeviceNumber device{stat.major, stat.minor};
    const Counters now = counters_of(stat);
    if (!is_used(now)) continue;
    if (has_own_row(device))
      rows.push_back({device, now});
    else
      add_to_others(device, now);
  }
  if (!last_of_others_.empty()) rows.push_back({std::nullopt, others_});
  return rows;
}

bool DeviceTotals::has_own_row(DeviceNumber device) {
  if (std::find(own_.begin(), own_.end(), device) != own_.end()) return true;
  if (own_.size() == own_rows_ || last_of_others_.contains(device)) return false;
  own_.push_back(device);
  return true;
}

// Adds the increase of the counters, not their values, because the total must not decrease when a device is removed.
void DeviceTotals::add_to_others(DeviceNumber device, const Counters& now) {
  Counters& last = last_of_others_[device];
  for (std::size_t i = 0; i < kCounters; ++i) {
    if (now[i] == cgroup::kAbsent) continue;
    others_[i] += now[i] >= last[i] ? now[i] - last[i] : now[i];
    last[i] = now[i];
  }
}

}  // namespace koord::block_io
