// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-be-resource/be_resource.hpp"

#include <algorithm>

namespace koord::be_resource {

CpuSet usable_cpus(const CpuSet& directory, const std::vector<CpuSet>& containers) {
  CpuSet any;
  for (const CpuSet& container : containers) any = any | container;
  const CpuSet usable = any & directory;
  return usable.empty() ? directory : usable;
}

std::optional<double> real_limit_milli(std::optional<std::size_t> cpus, std::optional<CpuMax> max) {
  std::optional<double> limit;
  if (cpus) limit = static_cast<double>(*cpus) * 1000;
  if (!max || max->quota_us < 0 || max->period_us <= 0) return limit;
  const double quota = static_cast<double>(max->quota_us) * 1000 / static_cast<double>(max->period_us);
  return limit ? std::min(*limit, quota) : quota;
}

std::optional<double> requested_milli(const std::vector<Pod>& pods) {
  double sum = 0;
  for (const Pod& pod : pods) {
    if (!pod.is_best_effort || pod.has_ended) continue;
    if (!pod.object_known) return std::nullopt;
    for (const Container& container : pod.containers)
      if (container.runs_beside) sum += static_cast<double>(container.batch_cpu_milli.value_or(0));
  }
  return sum;
}

}  // namespace koord::be_resource
