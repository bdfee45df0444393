// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-pod-resource/pod_resource.hpp"

namespace koord::pod_resource {

std::optional<double> memory_usage_bytes(const MemoryStat& stat) {
  double sum = 0;
  for (std::int64_t part : {stat.inactive_anon, stat.active_anon, stat.unevictable}) {
    if (part == MemoryStat::kAbsent) return std::nullopt;
    sum += static_cast<double>(part);
  }
  return sum;
}

}  // namespace koord::pod_resource
