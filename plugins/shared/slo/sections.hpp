// SPDX-License-Identifier: Apache-2.0
// The sections of a NodeSLO that strategies use, as values. The host has already added the defaults to the text, so a
// missing value means "do nothing". Names and ranges are the same as in the NodeSLO.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace koord::slo {

using Number = std::optional<std::int64_t>;
using Flag = std::optional<bool>;

enum class SuppressPolicy { cpuset, cfs_quota };
enum class CpuEvictPolicy { real_limit, allocatable };
enum class BurstPolicy { none, cpu_burst_only, cfs_quota_burst_only, automatic };
enum class CpuPolicy { group_identity, core_sched };
enum class BlockType { device, volume_group, pod_volume };

// resourceUsedThresholdWithBE
struct Threshold {
  Flag enable;
  Number cpu_suppress_threshold_percent, cpu_suppress_min_percent;
  std::optional<SuppressPolicy> cpu_suppress_policy;
  Number memory_evict_threshold_percent, memory_evict_lower_percent;
  Number memory_allocatable_evict_threshold_percent, memory_allocatable_evict_lower_percent;
  Number cpu_evict_be_satisfaction_upper_percent, cpu_evict_be_satisfaction_lower_percent;
  Number cpu_evict_be_usage_threshold_percent, cpu_evict_time_window_seconds;
  Number cpu_evict_threshold_percent, cpu_evict_lower_percent;
  Number cpu_allocatable_evict_threshold_percent, cpu_allocatable_evict_lower_percent;
  std::optional<CpuEvictPolicy> cpu_evict_policy;
  Number evict_enabled_priority_threshold, allocatable_evict_priority_threshold;

  bool operator==(const Threshold&) const = default;
};

// cpuBurstStrategy
struct CpuBurst {
  std::optional<BurstPolicy> policy;
  Number cpu_burst_percent, cfs_quota_burst_percent;
  Number cfs_quota_burst_period_seconds;  // -1: without limit
  Number share_pool_threshold_percent;

  bool operator==(const CpuBurst&) const = default;
};

// systemStrategy
struct System {
  Number min_free_kbytes_factor;  // ten-thousandths of the memory
  Number watermark_scale_factor, memcg_reap_background, sched_group_identity_enabled;
  Number sched_idle_saver_wmark;  // nanoseconds
  Number page_cache_limit_enabled;
  std::map<std::string, bool> sched_features;

  bool operator==(const System&) const = default;
};

struct CpuQos {
  Flag enable;
  Number group_identity, sched_idle;
  Flag core_expeller;

  bool operator==(const CpuQos&) const = default;
};

struct MemoryQos {
  Flag enable;
  Number min_limit_percent, low_limit_percent, throttling_percent;
  Number wmark_ratio, wmark_scale_permill, wmark_min_adj;
  Number priority_enable, priority, oom_kill_group;
  Flag page_cache_enable;
  Number page_cache_limit_percent, page_cache_limit_bytes;
  Flag page_cache_reclaim_sync;

  bool operator==(const MemoryQos&) const = default;
};

struct IoConfig {
  Number read_iops, write_iops, read_bps, write_bps;  // 0: unlimited
  Number weight_percent;
  Number read_latency_us, write_latency_us, read_latency_percent, write_latency_percent;
  Flag enable_user_model;
  Number model_read_bps, model_write_bps;
  Number model_read_sequential_iops, model_write_sequential_iops;
  Number model_read_random_iops, model_write_random_iops;

  bool operator==(const IoConfig&) const = default;
};

struct Block {
  std::string name;
  BlockType type = BlockType::device;
  IoConfig io;

  bool operator==(const Block&) const = default;
};

struct BlkioQos {
  Flag enable;
  std::vector<Block> blocks;

  bool operator==(const BlkioQos&) const = default;
};

struct ResctrlQos {
  Flag enable;
  Number cat_range_start_percent, cat_range_end_percent, mba_percent;

  bool operator==(const ResctrlQos&) const = default;
};

struct ClassQos {
  std::optional<CpuQos> cpu;
  std::optional<MemoryQos> memory;
  std::optional<BlkioQos> blkio;
  std::optional<ResctrlQos> resctrl;

  bool operator==(const ClassQos&) const = default;
};

// resourceQOSStrategy
struct ResourceQos {
  std::optional<ClassQos> lsr, ls, be, system, root;
  std::optional<CpuPolicy> cpu_policy = {};  // policies.cpuPolicy

  bool operator==(const ResourceQos&) const = default;
};

struct NodeSlo {
  std::optional<Threshold> threshold;
  std::optional<ResourceQos> resource_qos;
  std::optional<CpuBurst> cpu_burst;
  std::optional<System> system;
  // Strategies that an invalid value makes inactive, with the reason: "CPUBurst", "RdtResctrl/beClass".
  std::map<std::string, std::string, std::less<>> inactive;

  bool operator==(const NodeSlo&) const = default;
};

}  // namespace koord::slo
