// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-pod-resource/cgroup_meter.hpp"

namespace koord::pod_resource {

CgroupMeter::CgroupMeter(Series series, const memory::NumaNodes& nodes, std::uint64_t max_gap_ns)
    : series_(std::move(series)), cpu_rate_(max_gap_ns), numa_stat_(nodes) {}

void CgroupMeter::measure_cpu(const Services& services, std::string_view dir, std::uint64_t now_ns,
                              plugin::Batch& batch) {
  auto usage = cpu_.read(services.host, services.cgroup, dir, now_ns);
  if (!usage) return;
  // ns of CPU per ns of time.
  if (auto cores = cpu_rate_.update({usage->values[0], usage->read_ns})) batch.add(series_.cpu, *cores);
}

void CgroupMeter::measure_memory_current(const Services& services, std::string_view dir, std::uint64_t now_ns,
                                         plugin::Batch& batch) {
  auto current = current_.read(services.host, services.cgroup, dir, now_ns);
  if (current && current->values[0] != KOORD_ABSENT)
    batch.add(series_.memory_current, static_cast<double>(current->values[0]));
}

void CgroupMeter::measure_memory(const Services& services, std::string_view dir, std::uint64_t now_ns,
                                 plugin::Batch& batch) {
  auto stat = stat_.read_new(services.host, services.cgroup, dir, now_ns);
  if (!stat) return;
  auto bytes = memory::usage_bytes(*stat);
  if (!bytes) return;
  batch.add(series_.memory, *bytes);
  // A single NUMA node has all the memory.
  if (series_.numa_memory.size() == 1) batch.add(series_.numa_memory.begin()->second, *bytes);
}

void CgroupMeter::measure_numa_memory(const Services& services, std::string_view dir, std::uint64_t now_ns,
                                      plugin::Batch& batch) {
  for (const memory::NumaUsage& usage : numa_stat_.read_new(services.host, services.cgroup, dir, now_ns))
    batch.add(series_.numa_memory.at(usage.node), usage.bytes);
}

}  // namespace koord::pod_resource
