// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/slo/read_sections.hpp"

namespace koord::slo {
namespace {

void read_cpu_qos(const Members& from, CpuQos& into) {
  from.flag("enable", into.enable);
  from.number("groupIdentity", into.group_identity, -1, 2);
  from.number("schedIdle", into.sched_idle, 0, 1);
  from.flag("coreExpeller", into.core_expeller);
}

void read_io_config(const Members& from, IoConfig& into) {
  from.number("readIOPS", into.read_iops, 0);
  from.number("writeIOPS", into.write_iops, 0);
  from.number("readBPS", into.read_bps, 0);
  from.number("writeBPS", into.write_bps, 0);
  from.number("ioWeightPercent", into.weight_percent, 1, 100);
  from.number("readLatency", into.read_latency_us, 0);
  from.number("writeLatency", into.write_latency_us, 0);
  from.percent("readLatencyPercent", into.read_latency_percent);
  from.percent("writeLatencyPercent", into.write_latency_percent);
  from.flag("enableUserModel", into.enable_user_model);
  from.number("modelReadBPS", into.model_read_bps, 1);
  from.number("modelWriteBPS", into.model_write_bps, 1);
  from.number("modelReadSeqIOPS", into.model_read_sequential_iops, 1);
  from.number("modelWriteSeqIOPS", into.model_write_sequential_iops, 1);
  from.number("modelReadRandIOPS", into.model_read_random_iops, 1);
  from.number("modelWriteRandIOPS", into.model_write_random_iops, 1);
}

// Returns nullopt if the name or the type is missing, because the entry would match no device or a wrong device.
std::optional<Block> block_of(const Members& from) {
  Block block;
  std::optional<BlockType> type;
  std::optional<IoConfig> io;
  from.text("name", block.name);
  from.choice(
      "type", type,
      {{"device", BlockType::device}, {"volumegroup", BlockType::volume_group}, {"podvolume", BlockType::pod_volume}});
  from.section("ioCfg", io, read_io_config);
  if (block.name.empty()) from.report("name", "an entry without it counts for no device");
  if (!type) from.report("type", "expected one of device, volumegroup, podvolume");
  if (block.name.empty() || !type) return std::nullopt;
  block.type = *type;
  if (io) block.io = *io;
  return block;
}

void read_blkio_qos(const Members& from, BlkioQos& into) {
  from.flag("enable", into.enable);
  read_blocks(from, into.blocks);
}

void read_resctrl_qos(const Members& from, ResctrlQos& into) {
  from.flag("enable", into.enable);
  from.percent("catRangeStartPercent", into.cat_range_start_percent);
  from.percent("catRangeEndPercent", into.cat_range_end_percent);
  from.percent("mbaPercent", into.mba_percent);
}

void read_class(const Members& from, ClassQos& into) {
  from.section("cpuQOS", into.cpu, read_cpu_qos);
  from.section("memoryQOS", into.memory, read_memory_qos);
  from.section("blkioQOS", into.blkio, read_blkio_qos);
  from.section("resctrlQOS", into.resctrl, read_resctrl_qos);
}

}  // namespace

void read_threshold(const Members& from, Threshold& into) {
  from.flag("enable", into.enable);
  from.percent("cpuSuppressThresholdPercent", into.cpu_suppress_threshold_percent);
  from.percent("cpuSuppressMinPercent", into.cpu_suppress_min_percent);
  from.choice("cpuSuppressPolicy", into.cpu_suppress_policy,
              {{"cpuset", SuppressPolicy::cpuset}, {"cfsQuota", SuppressPolicy::cfs_quota}});
  from.percent("memoryEvictThresholdPercent", into.memory_evict_threshold_percent);
  from.percent("memoryEvictLowerPercent", into.memory_evict_lower_percent);
  from.number("memoryAllocatableEvictThresholdPercent", into.memory_allocatable_evict_threshold_percent, 0);
  from.number("memoryAllocatableEvictLowerPercent", into.memory_allocatable_evict_lower_percent, 0);
  from.percent("cpuEvictBESatisfactionUpperPercent", into.cpu_evict_be_satisfaction_upper_percent);
  from.percent("cpuEvictBESatisfactionLowerPercent", into.cpu_evict_be_satisfaction_lower_percent);
  from.percent("cpuEvictBEUsageThresholdPercent", into.cpu_evict_be_usage_threshold_percent);
  from.number("cpuEvictTimeWindowSeconds", into.cpu_evict_time_window_seconds, 1);
  from.percent("cpuEvictThresholdPercent", into.cpu_evict_threshold_percent);
  from.percent("cpuEvictLowerPercent", into.cpu_evict_lower_percent);
  from.number("cpuAllocatableEvictThresholdPercent", into.cpu_allocatable_evict_threshold_percent, 0);
  from.number("cpuAllocatableEvictLowerPercent", into.cpu_allocatable_evict_lower_percent, 0);
  from.choice("cpuEvictPolicy", into.cpu_evict_policy,
              {{"evictByRealLimit", CpuEvictPolicy::real_limit}, {"evictByAllocatable", CpuEvictPolicy::allocatable}});
  from.number("evictEnabledPriorityThreshold", into.evict_enabled_priority_threshold, INT32_MIN, INT32_MAX);
  from.number("allocatableEvictPriorityThreshold", into.allocatable_evict_priority_threshold, 0, 7999);
}

void read_pod_burst(const Members& from, CpuBurst& into) {
  from.choice("policy", into.policy,
              {{"none", BurstPolicy::none},
               {"cpuBurstOnly", BurstPolicy::cpu_burst_only},
               {"cfsQuotaBurstOnly", BurstPolicy::cfs_quota_burst_only},
               {"auto", BurstPolicy::automatic}});
  from.number("cpuBurstPercent", into.cpu_burst_percent, 0, 10000);
  from.number("cfsQuotaBurstPercent", into.cfs_quota_burst_percent, 100);
  from.number("cfsQuotaBurstPeriodSeconds", into.cfs_quota_burst_period_seconds, -1);
}

void read_cpu_burst(const Members& from, CpuBurst& into) {
  read_pod_burst(from, into);
  from.percent("sharePoolThresholdPercent", into.share_pool_threshold_percent);
}

void read_system(const Members& from, System& into) {
  from.number("minFreeKbytesFactor", into.min_free_kbytes_factor, 1, 500);
  from.number("watermarkScaleFactor", into.watermark_scale_factor, 1, 400);
  from.number("memcgReapBackGround", into.memcg_reap_background, 0, 1);
  from.number("schedGroupIdentityEnabled", into.sched_group_identity_enabled, 0, 1);
  from.number("schedIdleSaverWmark", into.sched_idle_saver_wmark, 0);
  from.number("pageCacheLimitEnabled", into.page_cache_limit_enabled, 0, 1);
  from.flags("schedFeatures", into.sched_features);
}

void read_memory_qos(const Members& from, MemoryQos& into) {
  from.flag("enable", into.enable);
  from.percent("minLimitPercent", into.min_limit_percent);
  from.percent("lowLimitPercent", into.low_limit_percent);
  from.percent("throttlingPercent", into.throttling_percent);
  from.percent("wmarkRatio", into.wmark_ratio);
  from.number("wmarkScalePermill", into.wmark_scale_permill, 1, 1000);
  from.number("wmarkMinAdj", into.wmark_min_adj, -25, 50);
  from.number("priorityEnable", into.priority_enable, 0, 1);
  from.number("priority", into.priority, 0, 12);
  from.number("oomKillGroup", into.oom_kill_group, 0, 1);
  from.flag("pageCacheEnable", into.page_cache_enable);
  from.percent("pageCacheLimitPercent", into.page_cache_limit_percent);
  from.bytes("pageCacheLimitSize", into.page_cache_limit_bytes);
  from.flag("pageCacheReclaimSync", into.page_cache_reclaim_sync);
}

bool read_blocks(const Members& from, std::vector<Block>& into) {
  std::vector<Block> blocks;
  const bool is_list = from.each("blocks", [&](const Members& entry) {
    if (std::optional<Block> block = block_of(entry)) blocks.push_back(*std::move(block));
  });
  if (is_list) into = std::move(blocks);
  return is_list;
}

void read_resource_qos(const Members& from, ResourceQos& into) {
  from.section("lsrClass", into.lsr, read_class);
  from.section("lsClass", into.ls, read_class);
  from.section("beClass", into.be, read_class);
  from.section("systemClass", into.system, read_class);
  from.section("cgroupRoot", into.root, read_class);
  from.section("policies", [&](const Members& members) {
    members.choice("cpuPolicy", into.cpu_policy,
                   {{"groupIdentity", CpuPolicy::group_identity}, {"coreSched", CpuPolicy::core_sched}});
  });
}

}  // namespace koord::slo
