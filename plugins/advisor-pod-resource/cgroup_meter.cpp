// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-pod-resource/cgroup_meter.hpp"

namespace koord::pod_resource {
namespace {

// A pod is often known before its cgroup is made.
constexpr std::uint64_t kRetryNs = 5'000'000'000;

}  // namespace

CgroupMeter::CgroupMeter(std::string dir, Series series, std::uint64_t max_gap_ns)
    : dir_(std::move(dir)), series_(series), cpu_meter_(max_gap_ns) {}

koord_status CgroupMeter::measure(const Services& services, std::uint64_t now_ns, plugin::Batch& batch) {
  if (!opened_) {
    if (now_ns < retry_ns_) return KOORD_OK;
    if (koord_status status = open(services); status != KOORD_OK) {
      close(now_ns);
      return status == KOORD_E_GONE ? KOORD_OK : status;
    }
  }
  koord_status cpu = cpu_ ? measure_cpu(batch) : KOORD_OK;
  koord_status memory = memory_ ? measure_memory(batch) : KOORD_OK;
  if (cpu == KOORD_E_GONE || memory == KOORD_E_GONE) {
    close(now_ns);
    return KOORD_OK;
  }
  return cpu != KOORD_OK ? cpu : memory;
}

koord_status CgroupMeter::measure_cpu(plugin::Batch& batch) {
  std::int64_t usage_ns[1];
  std::uint64_t read_ns = 0;
  if (koord_status status = cpu_.read(usage_ns, &read_ns); status != KOORD_OK) return status;
  if (auto cores = cpu_meter_.cores(usage_ns[0], read_ns)) batch.add(series_.cpu, *cores);
  return KOORD_OK;
}

koord_status CgroupMeter::measure_memory(plugin::Batch& batch) const {
  std::int64_t stat[3];
  if (koord_status status = memory_.read(stat); status != KOORD_OK) return status;
  if (auto bytes = memory_usage_bytes({stat[0], stat[1], stat[2]})) batch.add(series_.memory, *bytes);
  return KOORD_OK;
}

koord_status CgroupMeter::open(const Services& services) {
  koord_status cpu = cpu_.open(services.host, services.cgroup, dir_, "cpu.usage", {"usage_ns"});
  if (cpu != KOORD_OK && cpu != KOORD_E_UNSUPPORTED) return cpu;
  koord_status memory = memory_.open(services.host, services.cgroup, dir_, "memory.stat",
                                     {"inactive_anon", "active_anon", "unevictable"});
  if (memory != KOORD_OK && memory != KOORD_E_UNSUPPORTED) return memory;
  opened_ = true;
  return KOORD_OK;
}

void CgroupMeter::close(std::uint64_t now_ns) {
  cpu_ = {};
  memory_ = {};
  opened_ = false;
  retry_ns_ = now_ns + kRetryNs;
}

}  // namespace koord::pod_resource
