// SPDX-License-Identifier: Apache-2.0
#include "core/service/host_plugin_metrics.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace koord::service {
namespace {

constexpr std::array<std::string_view, 42> kOfLevels = {"be",
                                                        "block_*",
                                                        "cpi",
                                                        "cpu_info",
                                                        "cpu_throttled",
                                                        "cpu_throttled_seconds_total",
                                                        "cpu_usage",
                                                        "cycles_per_instruction",
                                                        "disk_size_bytes",
                                                        "gpu_core_usage",
                                                        "gpu_memory_total",
                                                        "gpu_memory_usage",
                                                        "held_up_*",
                                                        "host_network_pods",
                                                        "hugepages",
                                                        "hugepages_free",
                                                        "interference",
                                                        "interference_step",
                                                        "llc_misses_per_kilo_instructions",
                                                        "memory_cold_page_size",
                                                        "memory_current_bytes",
                                                        "memory_high_events_total",
                                                        "memory_latency_*",
                                                        "memory_limit_hits_total",
                                                        "memory_stall_ratio",
                                                        "memory_stall_seconds_total",
                                                        "memory_usage",
                                                        "memory_usage_with_page_cache",
                                                        "memory_with_hot_page_usage",
                                                        "network_*",
                                                        "numa_cpu_usage",
                                                        "numa_memory_total_bytes",
                                                        "numa_memory_usage",
                                                        "oom_kills_total",
                                                        "perf_*",
                                                        "pressure_stalled_seconds_total",
                                                        "psi",
                                                        "psi_*",
                                                        "scaled_cfs_burst_us",
                                                        "scaled_cfs_quota_us",
                                                        "sched_latency_*",
                                                        "waits_for_ratio"};

constexpr std::array<std::string_view, 11> kOthers = {"be_*",
                                                      "block_latency_*",
                                                      "collect_node_*",
                                                      "host_application*",
                                                      "interference_*",
                                                      "memory_latency_*",
                                                      "performance_*",
                                                      "rdma_port_*",
                                                      "resctrl_resource_*",
                                                      "sched_latency_*",
                                                      "textfile_mtime_seconds"};

bool is_in(std::span<const std::string_view> patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](std::string_view pattern) { return fits_metric_pattern(pattern, name); });
}

}  // namespace

std::span<const std::string_view> reserved_level_metrics() { return kOfLevels; }

std::span<const std::string_view> reserved_metrics() { return kOthers; }

bool fits_metric_pattern(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

bool is_metric_of_host_plugin(std::string_view name) {
  return is_in(kOthers, name) ||
         std::any_of(std::begin(kMetricLevels), std::end(kMetricLevels), [&](std::string_view level) {
           return name.starts_with(level) && is_in(kOfLevels, name.substr(level.size()));
         });
}

}  // namespace koord::service
