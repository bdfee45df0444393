// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/export_detail.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace koord::agentd {
namespace {

using config::Detail;
using metric::Exported;
using metric::HostExported;

// Metrics of the agent's own plugins that only level "all" exports, sorted. For pods they are: the kernel's averages of
// the values in pod_pressure_stalled_seconds_total, means in addition to quantiles, and values for each NUMA node.
constexpr std::string_view kPodDetails[] = {"pod_block_latency_mean_seconds",
                                            "pod_memory_latency_mean_seconds",
                                            "pod_memory_usage_with_page_cache",
                                            "pod_numa_memory_usage",
                                            "pod_psi",
                                            "pod_psi_cpu_full_supported",
                                            "pod_psi_stalled_ratio",
                                            "pod_sched_latency_mean_seconds"};

// The same for containers: values that every level with pods already exports for the pod, and values that are needed
// only to examine one container.
constexpr std::string_view kContainerDetails[] = {"container_block_latency_mean_seconds",
                                                  "container_block_read_bytes_total",
                                                  "container_block_reads_total",
                                                  "container_block_time_seconds_total",
                                                  "container_block_write_bytes_total",
                                                  "container_block_writes_total",
                                                  "container_cpi",
                                                  "container_held_up_seconds_total",
                                                  "container_llc_misses_per_kilo_instructions",
                                                  "container_memory_cold_page_size",
                                                  "container_memory_high_events_total",
                                                  "container_memory_latency_mean_seconds",
                                                  "container_memory_limit_hits_total",
                                                  "container_memory_stall_seconds_total",
                                                  "container_memory_usage_with_page_cache",
                                                  "container_memory_with_hot_page_usage",
                                                  "container_perf_running_ratio",
                                                  "container_pressure_stalled_seconds_total",
                                                  "container_psi",
                                                  "container_psi_cpu_full_supported",
                                                  "container_psi_stalled_ratio",
                                                  "container_scaled_cfs_burst_us",
                                                  "container_scaled_cfs_quota_us",
                                                  "container_sched_latency_mean_seconds",
                                                  "container_sched_latency_throttled_seconds_total"};

// Values for each network interface. All containers of a pod share the pod's interfaces.
constexpr std::string_view kContainerNetwork = "container_network_";

// Averages of the values in node_pressure_stalled_seconds_total.
constexpr std::string_view kNodeDetails = "node_psi";

struct HostRule {
  std::string_view family;
  HostExported exported;
};

// Families of the host with many series, sorted by name, and the condition for their export at a level below "all". A
// counter of failures appears with its first failure. `koordctl plugins` and `koordctl capabilities` show the series of
// plugins and capabilities.
constexpr HostRule kHostRules[] = {{"host_capability", HostExported::if_negative},
                                   {"host_kubelet_request_duration_seconds", HostExported::never},
                                   {"host_lists_total", HostExported::never},
                                   {"host_watch_failures_total", HostExported::unless_zero},
                                   {"host_watches_total", HostExported::never},
                                   {"http_displaced_connections_total", HostExported::unless_zero},
                                   {"http_failed_handshakes_total", HostExported::unless_zero},
                                   {"http_refused_connections_total", HostExported::unless_zero},
                                   {"plugin_call_seconds_total", HostExported::never},
                                   {"plugin_calls_total", HostExported::never},
                                   {"plugin_cpu_limit_cores", HostExported::never},
                                   {"plugin_cpu_seconds_total", HostExported::never},
                                   {"plugin_deadline_misses_total", HostExported::unless_zero},
                                   {"plugin_dropped_series_total", HostExported::unless_zero},
                                   {"plugin_errors_total", HostExported::unless_zero},
                                   {"plugin_hard_breaches_total", HostExported::unless_zero},
                                   {"plugin_memory_bytes", HostExported::unless_zero},
                                   {"plugin_memory_limit_bytes", HostExported::never},
                                   {"plugin_refused_configs_total", HostExported::unless_zero},
                                   {"plugin_refused_reloads_total", HostExported::unless_zero},
                                   {"plugin_reloads_total", HostExported::unless_zero},
                                   {"plugin_series", HostExported::never},
                                   {"plugin_series_limit", HostExported::never},
                                   {"plugin_skipped_ticks_total", HostExported::unless_zero},
                                   {"plugin_slowdown", HostExported::unless_one},
                                   {"plugin_soft_breaches_total", HostExported::unless_zero},
                                   {"plugin_tick_deadline_seconds", HostExported::never},
                                   {"plugin_up", HostExported::never},
                                   {"report_left_out_parts", HostExported::unless_zero},
                                   {"report_writes_total", HostExported::unless_zero}};

// This metric has one series for each resource and kind of verdict. Nearly all of these series are 0.
constexpr std::string_view kVerdicts = "container_interference";

static_assert(std::is_sorted(std::begin(kPodDetails), std::end(kPodDetails)));
static_assert(std::is_sorted(std::begin(kContainerDetails), std::end(kContainerDetails)));
static_assert(std::is_sorted(std::begin(kHostRules), std::end(kHostRules),
                             [](const HostRule& a, const HostRule& b) { return a.family < b.family; }));

template <std::size_t n>
bool has(const std::string_view (&names)[n], std::string_view name) {
  return std::binary_search(std::begin(names), std::end(names), name);
}

}  // namespace

Exported exported(Detail detail, const metric::Desc& desc) {
  if (detail == Detail::all) return {};
  Exported levels{.node = desc.name != kNodeDetails, .pods = false, .containers = false, .zero_containers = true};
  levels.pods = detail != Detail::node && !has(kPodDetails, desc.name);
  levels.containers = detail == Detail::container && desc.type != metric::Type::histogram &&
                      !has(kContainerDetails, desc.name) && !desc.name.starts_with(kContainerNetwork);
  levels.zero_containers = desc.name != kVerdicts;
  return levels;
}

HostExported host_exported(Detail detail, std::string_view family) {
  if (detail == Detail::all) return HostExported::always;
  const HostRule* rule =
      std::lower_bound(std::begin(kHostRules), std::end(kHostRules), family,
                       [](const HostRule& known, std::string_view name) { return known.family < name; });
  return rule != std::end(kHostRules) && rule->family == family ? rule->exported : HostExported::always;
}

}  // namespace koord::agentd
