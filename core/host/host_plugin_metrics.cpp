// SPDX-License-Identifier: Apache-2.0
// The names of metrics that the host's own plugins define, so that nobody takes one before they do.
#include <algorithm>
#include <array>

#include "core/host/rights.hpp"

namespace koord::host {
namespace {

// Defined for several of node_, pod_, container_ and sys_; kept for all four.
constexpr std::array<std::string_view, 4> kLevels = {"node_", "pod_", "container_", "sys_"};

// "x*" keeps all names that begin with x.
constexpr std::array<std::string_view, 42> kOfLevels = {
    "be", "block_*", "cold_memory*", "collect_*", "cpu_info", "cpu_throttled", "cpu_throttled_seconds_total", "cpu_usage",
    "cycles_per_instruction", "disk_size_bytes", "gpu_core_usage", "gpu_memory_total", "gpu_memory_usage", "host_network_pods",
    "hugepages", "hugepages_free", "llc_misses_per_kilo_instructions", "memory_cold_page_size", "memory_current_bytes",
    "memory_high_events_total", "memory_latency_*", "memory_limit_hits_total", "memory_stall_ratio", "memory_stall_seconds_total",
    "memory_usage", "memory_usage_with_page_cache", "memory_with_hot_page_usage", "network_*", "numa_cpu_usage",
    "numa_memory_total_bytes", "numa_memory_usage", "oom_kills_total", "perf_running_ratio", "pressure_stalled_seconds_total",
    "psi", "psi_cpu_full_supported", "psi_stalled_ratio", "scaled_cfs_burst_us", "scaled_cfs_quota_us", "sched_latency_*",
    "cycles*", "instructions*"};

constexpr std::array<std::string_view, 11> kOthers = {
    "be_*",           "block_latency_*",    "collect_node_*", "host_application*", "memory_latency_*", "performance_*",
    "rdma_port_*",    "resctrl_resource_*", "sched_latency_*", "textfile_mtime_seconds", "device_*"};

bool is_named(std::string_view kept, std::string_view name) {
  if (!kept.ends_with('*')) return kept == name;
  kept.remove_suffix(1);
  return name.starts_with(kept);
}

template <std::size_t n>
bool is_in(const std::array<std::string_view, n>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](std::string_view kept) { return is_named(kept, name); });
}

}  // namespace

bool is_metric_of_host_plugin(std::string_view name) {
  if (is_in(kOthers, name)) return true;
  return std::any_of(kLevels.begin(), kLevels.end(), [&](std::string_view level) {
    return name.starts_with(level) && is_in(kOfLevels, name.substr(level.size()));
  });
}

}  // namespace koord::host
