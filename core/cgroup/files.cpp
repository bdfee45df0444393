// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/files.hpp"

#include <algorithm>

namespace koord::cgroup {
namespace {

using enum Conversion;

constexpr KernelFile kUsageV1[] = {{Controller::cpuacct, "cpuacct.usage", Format::words}};
constexpr KernelFile kUsageV2[] = {{Controller::cpuacct, "cpu.stat", Format::flat}};
constexpr KeySpec kUsageKeysV1[] = {{"usage_ns", 0, "0"}};
constexpr KeySpec kUsageKeysV2[] = {{"usage_ns", 0, "usage_usec", micro_to_nano}};

constexpr KernelFile kCpuStat[] = {{Controller::cpu, "cpu.stat", Format::flat}};
constexpr KeySpec kCpuStatKeysV1[] = {{"nr_periods", 0, "nr_periods"},
                                      {"nr_throttled", 0, "nr_throttled"},
                                      {"throttled_ns", 0, "throttled_time"},
                                      {"nr_bursts", 0, "nr_bursts"},
                                      {"burst_ns", 0, "burst_time"}};
constexpr KeySpec kCpuStatKeysV2[] = {{"nr_periods", 0, "nr_periods"},
                                      {"nr_throttled", 0, "nr_throttled"},
                                      {"throttled_ns", 0, "throttled_usec", micro_to_nano},
                                      {"nr_bursts", 0, "nr_bursts"},
                                      {"burst_ns", 0, "burst_usec", micro_to_nano}};

constexpr KernelFile kCpuMaxV1[] = {{Controller::cpu, "cpu.cfs_quota_us", Format::words},
                                    {Controller::cpu, "cpu.cfs_period_us", Format::words}};
constexpr KernelFile kCpuMaxV2[] = {{Controller::cpu, "cpu.max", Format::words}};
constexpr KeySpec kCpuMaxKeysV1[] = {{"quota_us", 0, "0"}, {"period_us", 1, "0"}};
constexpr KeySpec kCpuMaxKeysV2[] = {{"quota_us", 0, "0"}, {"period_us", 0, "1"}};

constexpr KernelFile kSharesV1[] = {{Controller::cpu, "cpu.shares", Format::words}};
constexpr KernelFile kSharesV2[] = {{Controller::cpu, "cpu.weight", Format::words}};
constexpr KeySpec kSharesKeysV1[] = {{"shares", 0, "0"}};
constexpr KeySpec kSharesKeysV2[] = {{"shares", 0, "0", weight_to_shares}};

constexpr KernelFile kMemoryUsageV1[] = {{Controller::memory, "memory.usage_in_bytes", Format::words}};
constexpr KernelFile kMemoryUsageV2[] = {{Controller::memory, "memory.current", Format::words}};
constexpr KeySpec kMemoryUsageKeys[] = {{"usage_bytes", 0, "0"}};

constexpr KernelFile kMemoryLimitV1[] = {{Controller::memory, "memory.limit_in_bytes", Format::words}};
constexpr KernelFile kMemoryLimitV2[] = {{Controller::memory, "memory.max", Format::words}};
constexpr KeySpec kMemoryLimitKeysV1[] = {{"limit_bytes", 0, "0", huge_is_unlimited}};
constexpr KeySpec kMemoryLimitKeysV2[] = {{"limit_bytes", 0, "0"}};

constexpr KernelFile kMemoryPeakV1[] = {{Controller::memory, "memory.max_usage_in_bytes", Format::words}};
constexpr KernelFile kMemoryPeakV2[] = {{Controller::memory, "memory.peak", Format::words}};
constexpr KeySpec kMemoryPeakKeys[] = {{"peak_bytes", 0, "0"}};

// v1's memsw is the sum of memory and swap. memory.stat has the swapped-out bytes.
constexpr KernelFile kMemorySwapV1[] = {{Controller::memory, "memory.stat", Format::flat, true}};
constexpr KernelFile kMemorySwapV2[] = {{Controller::memory, "memory.swap.current", Format::words}};
constexpr KeySpec kMemorySwapKeysV1[] = {{"swap_bytes", 0, "total_swap"}};
constexpr KeySpec kMemorySwapKeysV2[] = {{"swap_bytes", 0, "0"}};

// v1 only counts events of the cgroup's own limit and own processes.
constexpr KernelFile kMemoryEventsV1[] = {{Controller::memory, "memory.oom_control", Format::flat},
                                          {Controller::memory, "memory.failcnt", Format::words}};
constexpr KernelFile kMemoryEventsV2[] = {{Controller::memory, "memory.events", Format::flat}};
constexpr KernelFile kLocalMemoryEventsV2[] = {{Controller::memory, "memory.events.local", Format::flat}};
constexpr KeySpec kMemoryEventsKeysV1[] = {{"oom_kill", 0, "oom_kill"}, {"under_oom", 0, "under_oom"}, {"max", 1, "0"}};
constexpr KeySpec kMemoryEventsKeysV2[] = {{"low", 0, "low"},           {"high", 0, "high"},
                                           {"max", 0, "max"},           {"oom", 0, "oom"},
                                           {"oom_kill", 0, "oom_kill"}, {"oom_group_kill", 0, "oom_group_kill"}};

constexpr KernelFile kMemoryStat[] = {{Controller::memory, "memory.stat", Format::flat, true}};
// v2's anon corresponds to v1's rss, and file to v1's cache. Both file and cache include shmem.
constexpr KeySpec kMemoryStatKeysV1[] = {
    {"anon", 0, "total_rss"},
    {"anon_thp", 0, "total_rss_huge"},
    {"file", 0, "total_cache"},
    {"file_mapped", 0, "total_mapped_file"},
    {"file_dirty", 0, "total_dirty"},
    {"file_writeback", 0, "total_writeback"},
    {"shmem", 0, "total_shmem"},
    {"swapcached", 0, "total_swapcached"},
    {"inactive_anon", 0, "total_inactive_anon"},
    {"active_anon", 0, "total_active_anon"},
    {"inactive_file", 0, "total_inactive_file"},
    {"active_file", 0, "total_active_file"},
    {"unevictable", 0, "total_unevictable"},
    {"pgfault", 0, "total_pgfault"},
    {"pgmajfault", 0, "total_pgmajfault"},
    {"workingset_refault_anon", 0, "total_workingset_refault_anon"},
    {"workingset_refault_file", 0, "total_workingset_refault_file"},
};
constexpr KeySpec kMemoryStatKeysV2[] = {
    {"anon", 0, "anon"},
    {"anon_thp", 0, "anon_thp"},
    {"file", 0, "file"},
    {"file_mapped", 0, "file_mapped"},
    {"file_dirty", 0, "file_dirty"},
    {"file_writeback", 0, "file_writeback"},
    {"shmem", 0, "shmem"},
    {"swapcached", 0, "swapcached"},
    {"inactive_anon", 0, "inactive_anon"},
    {"active_anon", 0, "active_anon"},
    {"inactive_file", 0, "inactive_file"},
    {"active_file", 0, "active_file"},
    {"unevictable", 0, "unevictable"},
    {"pgfault", 0, "pgfault"},
    {"pgmajfault", 0, "pgmajfault"},
    {"workingset_refault_anon", 0, "workingset_refault_anon"},
    {"workingset_refault_file", 0, "workingset_refault_file"},
    {"kernel", 0, "kernel"},
    {"kernel_stack", 0, "kernel_stack"},
    {"pagetables", 0, "pagetables"},
    {"sock", 0, "sock"},
    {"slab", 0, "slab"},
    {"slab_reclaimable", 0, "slab_reclaimable"},
    {"slab_unreclaimable", 0, "slab_unreclaimable"},
};

constexpr KernelFile kNumaStat[] = {{Controller::memory, "memory.numa_stat", Format::numa, true}};
// v1's plain lines count only the cgroup's own pages, but the pages of a pod are in its containers' cgroups.
constexpr KeySpec kNumaKeysV1[] = {{"N0", 0, "hierarchical_anon", pages_to_bytes},
                                   {"anon N0", 0, "hierarchical_anon", pages_to_bytes},
                                   {"file N0", 0, "hierarchical_file", pages_to_bytes},
                                   {"unevictable N0", 0, "hierarchical_unevictable", pages_to_bytes}};
// v1's lines are the LRU lists, where a page of shmem is anonymous. v2's "anon" and "file" are not LRU lists.
constexpr KeySpec kNumaKeysV2[] = {{"N0", 0, "anon"},
                                   {"anon N0", 0, "inactive_anon active_anon"},
                                   {"file N0", 0, "inactive_file active_file"},
                                   {"unevictable N0", 0, "unevictable"}};

constexpr KernelFile kPids[] = {{Controller::pids, "pids.current", Format::words}};
constexpr KeySpec kPidsKeys[] = {{"pids", 0, "0"}};

// On v1 only kernels with a vendor's patch have these files, in the cpuacct tree.
constexpr KernelFile kCpuPressureV1[] = {{Controller::cpuacct, "cpu.pressure", Format::pressure}};
constexpr KernelFile kMemoryPressureV1[] = {{Controller::cpuacct, "memory.pressure", Format::pressure}};
constexpr KernelFile kIoPressureV1[] = {{Controller::cpuacct, "io.pressure", Format::pressure}};
constexpr KernelFile kCpuPressureV2[] = {{Controller::core, "cpu.pressure", Format::pressure}};
constexpr KernelFile kMemoryPressureV2[] = {{Controller::core, "memory.pressure", Format::pressure}};
constexpr KernelFile kIoPressureV2[] = {{Controller::core, "io.pressure", Format::pressure}};
constexpr KeySpec kPressureKeys[] = {
    {"some_avg10", 0, "some avg10"},    {"some_avg60", 0, "some avg60"},    {"some_avg300", 0, "some avg300"},
    {"some_total_us", 0, "some total"}, {"full_avg10", 0, "full avg10"},    {"full_avg60", 0, "full avg60"},
    {"full_avg300", 0, "full avg300"},  {"full_total_us", 0, "full total"},
};

constexpr LogicalFile kLogicalFiles[] = {
    {"cpu.usage", {kUsageV1, kUsageKeysV1}, {kUsageV2, kUsageKeysV2}},
    {"cpu.stat", {kCpuStat, kCpuStatKeysV1}, {kCpuStat, kCpuStatKeysV2}},
    {"cpu.max", {kCpuMaxV1, kCpuMaxKeysV1}, {kCpuMaxV2, kCpuMaxKeysV2}},
    {"cpu.shares", {kSharesV1, kSharesKeysV1}, {kSharesV2, kSharesKeysV2}},
    {"memory.usage", {kMemoryUsageV1, kMemoryUsageKeys}, {kMemoryUsageV2, kMemoryUsageKeys}},
    {"memory.limit", {kMemoryLimitV1, kMemoryLimitKeysV1}, {kMemoryLimitV2, kMemoryLimitKeysV2}},
    {"memory.peak", {kMemoryPeakV1, kMemoryPeakKeys}, {kMemoryPeakV2, kMemoryPeakKeys}},
    {"memory.swap", {kMemorySwapV1, kMemorySwapKeysV1}, {kMemorySwapV2, kMemorySwapKeysV2}},
    {"memory.events", {kMemoryEventsV1, kMemoryEventsKeysV1}, {kMemoryEventsV2, kMemoryEventsKeysV2}},
    {"memory.events.local", {kMemoryEventsV1, kMemoryEventsKeysV1}, {kLocalMemoryEventsV2, kMemoryEventsKeysV2}},
    {"memory.stat", {kMemoryStat, kMemoryStatKeysV1}, {kMemoryStat, kMemoryStatKeysV2}},
    {"memory.numa_stat", {kNumaStat, kNumaKeysV1}, {kNumaStat, kNumaKeysV2}},
    {"pids.current", {kPids, kPidsKeys}, {kPids, kPidsKeys}},
    {"cpu.pressure", {kCpuPressureV1, kPressureKeys}, {kCpuPressureV2, kPressureKeys}},
    {"memory.pressure", {kMemoryPressureV1, kPressureKeys}, {kMemoryPressureV2, kPressureKeys}},
    {"io.pressure", {kIoPressureV1, kPressureKeys}, {kIoPressureV2, kPressureKeys}},
};

bool is_numa_node(std::string_view key) {
  return key.size() >= 2 && key.size() <= 6 && key.front() == 'N' &&
         key.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// Returns the spec for any node, for example "anon N3" from the row of "anon N0".
std::optional<KeySpec> find_numa_key(std::span<const KeySpec> keys, std::string_view key) {
  std::size_t node = key.rfind(' ') + 1;
  if (!is_numa_node(key.substr(node))) return std::nullopt;
  for (KeySpec spec : keys) {
    if (spec.key.substr(0, spec.key.rfind(' ') + 1) != key.substr(0, node)) continue;
    spec.key = key;
    return spec;
  }
  return std::nullopt;
}

}  // namespace

std::optional<KeySpec> FileSpec::find(std::string_view key) const {
  if (files.front().format == Format::numa) return find_numa_key(keys, key);
  auto found = std::find_if(keys.begin(), keys.end(), [key](const KeySpec& spec) { return spec.key == key; });
  return found == keys.end() ? std::nullopt : std::optional(*found);
}

std::span<const LogicalFile> logical_files() { return kLogicalFiles; }

const LogicalFile* find_logical_file(std::string_view name) {
  auto found = std::find_if(std::begin(kLogicalFiles), std::end(kLogicalFiles),
                            [name](const LogicalFile& file) { return file.name == name; });
  return found == std::end(kLogicalFiles) ? nullptr : found;
}

}  // namespace koord::cgroup
