// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-burst/share_pool.hpp"

#include <algorithm>

namespace koord::cpu_burst {
namespace {

constexpr double kCooling = 0.9;  // fraction of the threshold

}  // namespace

const char* name_of(PoolState state) {
  switch (state) {
    case PoolState::idle:
      return "idle";
    case PoolState::cooling:
      return "cooling";
    case PoolState::overload:
      return "overloaded";
    case PoolState::unknown:
      break;
  }
  return "not known";
}

double Pool::ratio() const { return total > 0 ? used / total : 1; }

double Pool::room() const { return std::max(0.0, total * threshold_percent / 100 * kCooling - used); }

PoolState state_of(const Pool& pool) {
  const double ratio = pool.ratio(), threshold = pool.threshold_percent / 100;
  if (ratio >= threshold) return PoolState::overload;
  return ratio >= threshold * kCooling ? PoolState::cooling : PoolState::idle;
}

double UnaveragedChanges::cores(std::uint64_t now_ns) {
  std::erase_if(changes_, [&](const Change& change) { return now_ns - change.at_ns >= window_ns_; });
  double sum = 0;
  for (const Change& change : changes_)
    sum += change.cores * (1 - static_cast<double>(now_ns - change.at_ns) / static_cast<double>(window_ns_));
  return sum;
}

}  // namespace koord::cpu_burst
