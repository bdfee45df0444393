// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-pod-resource/cgroup_meter.hpp"

namespace koord::pod_resource {

void CgroupMeter::measure_cpu(const Services& services, std::string_view dir, std::uint64_t now_ns, plugin::Batch& batch) {
  auto usage = cpu_.read(services.host, services.cgroup, dir, now_ns);
  if (!usage) return;
  if (auto cores = cpu_meter_.cores(usage->values[0], usage->read_ns)) batch.add(series_.cpu, *cores);
}

void CgroupMeter::measure_memory(const Services& services, std::string_view dir, std::uint64_t now_ns, plugin::Batch& batch) {
  auto stat = memory_.read(services.host, services.cgroup, dir, now_ns);
  if (!stat) return;
  if (auto bytes = memory_usage_bytes({stat->values[0], stat->values[1], stat->values[2]})) batch.add(series_.memory, *bytes);
}

}  // namespace koord::pod_resource
