// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo_schema.hpp"

namespace koord::state {
namespace {

using enum SloType;

constexpr SloDefaults general(std::string_view value) { return {.general = value}; }
// The same value in all classes, even while the section is off.
constexpr SloDefaults always(std::string_view value) {
  return {.lsr = value, .ls = value, .be = value, .system = value, .off = value};
}
constexpr SloDefaults by_class(std::string_view lsr, std::string_view ls, std::string_view be, std::string_view system,
                               std::string_view off) {
  return {.lsr = lsr, .ls = ls, .be = be, .system = system, .off = off};
}
constexpr SloDefaults in_all_classes_and_root(std::string_view value) {
  SloDefaults defaults = always(value);
  defaults.root = value;
  return defaults;
}

constexpr SloField percent(std::string_view name, std::string_view meaning, SloDefaults defaults = {},
                           std::string_view unset = {}) {
  return {
      .name = name, .type = integer, .meaning = meaning, .defaults = defaults, .unset = unset, .least = 0, .most = 100};
}
constexpr SloField number(std::string_view name, std::string_view meaning, std::int64_t least,
                          std::int64_t most = kNoMost, SloDefaults defaults = {}, std::string_view unset = {}) {
  return {.name = name,
          .type = integer,
          .meaning = meaning,
          .defaults = defaults,
          .unset = unset,
          .least = least,
          .most = most};
}
constexpr SloField flag(std::string_view name, std::string_view meaning, SloDefaults defaults = {}) {
  return {.name = name, .type = boolean, .meaning = meaning, .defaults = defaults};
}
constexpr SloField word(std::string_view name, std::string_view meaning, std::string_view choices,
                        SloDefaults defaults = {}) {
  return {.name = name, .type = choice, .meaning = meaning, .defaults = defaults, .choices = choices};
}
constexpr SloField section(std::string_view name, std::span<const SloField> fields, std::string_view meaning,
                           SloProfile profile = SloProfile::general) {
  return {.name = name, .type = object, .meaning = meaning, .fields = fields, .profile = profile};
}
constexpr SloField less_than(std::string_view other, SloField field) {
  field.below = other;
  return field;
}
constexpr SloField vital_part(SloField field, bool required = false) {
  field.vital = true;
  field.required = required;
  return field;
}

// An invalid value makes these strategies inactive. It is not replaced by the default.
constexpr SloField used_by(std::string_view strategies, SloField field, std::string_view inactive = {}) {
  field.strategies = strategies;
  field.inactive = inactive;
  return field;
}
constexpr SloField of_burst(SloField field, std::string_view inactive = {}) {
  return used_by("CPUBurst", field, inactive);
}
constexpr SloField of_resctrl(SloField field, std::string_view inactive = {}) {
  return used_by("RdtResctrl", field, inactive);
}

constexpr SloField kThreshold[] = {
    flag("enable", "whether best-effort pods are held back and evicted at all", general("false")),
    percent("cpuSuppressThresholdPercent",
            "how much of the node's CPU all pods together may use before best-effort ones get less", general("65")),
    percent("cpuSuppressMinPercent", "how much of the node's CPU is left to best-effort pods in any case"),
    used_by("BECPUSuppress", word("cpuSuppressPolicy", "whether best-effort pods get fewer CPUs or a smaller quota",
                                  "cpuset|cfsQuota", general("\"cpuset\""))),
    used_by("BEMemoryEvict|MemoryEvict",
            percent("memoryEvictThresholdPercent", "used memory at which best-effort pods are evicted", general("70"))),
    used_by("BEMemoryEvict|MemoryEvict",
            less_than("memoryEvictThresholdPercent",
                      percent("memoryEvictLowerPercent", "used memory down to which they are evicted", {},
                              "memoryEvictThresholdPercent - 2"))),
    used_by("MemoryAllocatableEvict", number("memoryAllocatableEvictThresholdPercent",
                                             "requested share of allocatable memory at which pods are evicted", 0)),
    used_by("MemoryAllocatableEvict",
            less_than("memoryAllocatableEvictThresholdPercent",
                      number("memoryAllocatableEvictLowerPercent",
                             "requested share of allocatable memory down to which they are evicted", 0))),
    used_by("BECPUEvict",
            percent("cpuEvictBESatisfactionUpperPercent",
                    "share of their CPU requests that best-effort pods must get again for evicting to end")),
    used_by("BECPUEvict", less_than("cpuEvictBESatisfactionUpperPercent",
                                    percent("cpuEvictBESatisfactionLowerPercent",
                                            "share of their CPU requests below which best-effort pods are evicted"))),
    used_by("BECPUEvict",
            percent("cpuEvictBEUsageThresholdPercent",
                    "share of their CPU limit that best-effort pods must use to be evicted for lack of CPU", {}, "90")),
    used_by("BECPUEvict|CPUEvict", number("cpuEvictTimeWindowSeconds", "how long it must have been so, in seconds", 1,
                                          kNoMost, {}, "the period of collecting")),
    used_by("CPUEvict", percent("cpuEvictThresholdPercent", "used CPU at which pods are evicted")),
    used_by("CPUEvict", less_than("cpuEvictThresholdPercent",
                                  percent("cpuEvictLowerPercent", "used CPU down to which they are evicted", {},
                                          "cpuEvictThresholdPercent - 2"))),
    used_by("CPUAllocatableEvict", number("cpuAllocatableEvictThresholdPercent",
                                          "requested share of allocatable CPU at which pods are evicted", 0)),
    used_by("CPUAllocatableEvict",
            less_than("cpuAllocatableEvictThresholdPercent",
                      number("cpuAllocatableEvictLowerPercent",
                             "requested share of allocatable CPU down to which they are evicted", 0))),
    used_by("BECPUEvict", word("cpuEvictPolicy", "reference for the CPU of best-effort pods",
                               "evictByRealLimit|evictByAllocatable", general("\"evictByRealLimit\""))),
    used_by("CPUEvict|MemoryEvict",
            number("evictEnabledPriorityThreshold", "pods of a higher priority are not evicted for what is used",
                   INT32_MIN, INT32_MAX)),
    used_by("CPUAllocatableEvict|MemoryAllocatableEvict",
            number("allocatableEvictPriorityThreshold",
                   "pods of a higher priority are not evicted for what is requested", 0, 7999)),
};

constexpr SloField kCpuQos[] = {
    flag("enable", "whether this section counts", always("false")),
    number("groupIdentity", "rank in the kernel's scheduler (bvt)", -1, 2, by_class("2", "2", "-1", "0", "0")),
    number("schedIdle", "1: runs when nothing else does (cpu.idle)", 0, 1, always("0")),
    flag("coreExpeller", "whether what is expelled from a core counts hyper-threads, too",
         by_class("true", "true", "false", "false", "false")),
};

constexpr SloField kMemoryQos[] = {
    flag("enable", "whether this section counts", always("false")),
    percent("minLimitPercent", "share of the memory request that is never reclaimed (memory.min)", always("0")),
    percent("lowLimitPercent", "share of the memory request that is reclaimed last (memory.low)", always("0")),
    percent("throttlingPercent",
            "where between request and limit allocations are slowed down (memory.high); 0: nowhere", always("0")),
    percent("wmarkRatio", "share of the memory limit at which the kernel begins to reclaim in the background; 0: never",
            by_class("95", "95", "95", "0", "0")),
    number("wmarkScalePermill", "how much it reclaims then, in thousandths of the limit", 1, 1000,
           by_class("20", "20", "20", "50", "50")),
    number("wmarkMinAdj", "by how many percent the node's low watermark is moved for it", -25, 50,
           by_class("-25", "-25", "50", "0", "0")),
    number("priorityEnable", "1: the OOM killer goes by priority", 0, 1, always("0")),
    number("priority", "rank before the OOM killer, which takes the lowest first", 0, 12, always("0")),
    number("oomKillGroup", "1: the OOM killer ends all of a cgroup together", 0, 1, always("0")),
    flag("pageCacheEnable", "whether the page cache is limited"),
    percent("pageCacheLimitPercent", "how much of the memory limit may be page cache"),
    {.name = "pageCacheLimitSize",
     .type = quantity,
     .meaning = "how much page cache there may be, in bytes; goes before the percentage"},
    flag("pageCacheReclaimSync", "whether an allocation waits until page cache has been reclaimed"),
};

constexpr SloField kIoConfig[] = {
    number("readIOPS", "reads a second; 0: any number", 0, kNoMost, {}, "0"),
    number("writeIOPS", "writes a second; 0: any number", 0, kNoMost, {}, "0"),
    number("readBPS", "bytes read a second; 0: any number", 0, kNoMost, {}, "0"),
    number("writeBPS", "bytes written a second; 0: any number", 0, kNoMost, {}, "0"),
    number("ioWeightPercent", "share among those that want the device", 1, 100, {}, "100"),
    number("readLatency", "read latency to keep, in microseconds", 0, kNoMost, {}, "3000"),
    number("writeLatency", "write latency to keep, in microseconds", 0, kNoMost, {}, "3000"),
    percent("readLatencyPercent", "percentile of the read latency that is limited", {}, "95"),
    percent("writeLatencyPercent", "percentile of the write latency that is limited", {}, "95"),
    flag("enableUserModel", "whether the device's costs are those given here"),
    number("modelReadBPS", "bytes that the device reads a second", 1),
    number("modelWriteBPS", "bytes that the device writes a second", 1),
    number("modelReadSeqIOPS", "sequential reads of the device a second", 1),
    number("modelWriteSeqIOPS", "sequential writes of the device a second", 1),
    number("modelReadRandIOPS", "random reads of the device a second", 1),
    number("modelWriteRandIOPS", "random writes of the device a second", 1),
};

constexpr SloField kBlock[] = {
    vital_part({.name = "name", .type = text, .meaning = "of the device, the volume group or the pod's volume"}, true),
    vital_part(word("type", "kind of the name", "device|volumegroup|podvolume"), true),
    section("ioCfg", kIoConfig, "limits and weights on this device"),
};

constexpr SloField kBlkioQos[] = {
    flag("enable", "whether this section counts", in_all_classes_and_root("false")),
    {.name = "blocks", .type = list, .meaning = "block devices and what holds on them", .fields = kBlock},
};

constexpr SloField kResctrlQos[] = {
    of_resctrl(flag("enable", "whether this section counts", always("false")), "false"),
    of_resctrl(less_than("catRangeEndPercent", percent("catRangeStartPercent",
                                                       "where its part of the last-level cache begins", always("0")))),
    of_resctrl(percent("catRangeEndPercent", "where its part of the last-level cache ends",
                       by_class("100", "100", "30", "100", "100"))),
    of_resctrl(percent("mbaPercent", "its share of the memory bandwidth", always("100"))),
};

constexpr SloField share_of_network(std::string_view name, std::string_view meaning) {
  return {.name = name, .type = share, .meaning = meaning, .defaults = always("0"), .least = 0, .most = 100};
}
constexpr SloField kNetworkQos[] = {
    flag("enable", "whether this section counts", always("false")),
    share_of_network("ingressRequest", "incoming bits a second that it is granted, or percent of the node's"),
    share_of_network("ingressLimit", "incoming bits a second that it may use, or percent of the node's"),
    share_of_network("egressRequest", "outgoing bits a second that it is granted, or percent of the node's"),
    share_of_network("egressLimit", "outgoing bits a second that it may use, or percent of the node's"),
};

constexpr SloField kClass[] = {
    section("cpuQOS", kCpuQos, "how the kernel's scheduler treats the class"),
    section("memoryQOS", kMemoryQos, "how the kernel's memory management treats the class"),
    section("blkioQOS", kBlkioQos, "limits and weights on block devices"),
    section("resctrlQOS", kResctrlQos, "the part of last-level cache and memory bandwidth"),
    section("networkQOS", kNetworkQos, "the part of the node's network"),
};

constexpr SloField kPolicies[] = {
    word("cpuPolicy", "kernel mechanism that distinguishes classes", "groupIdentity|coreSched",
         general("\"groupIdentity\"")),
    word("netQOSPolicy", "by which means the network is shared", "tc|terway-qos", general("\"tc\"")),
};

constexpr SloField kResourceQos[] = {
    section("policies", kPolicies, "means of the kernel"),
    section("lsrClass", kClass, "for pods of LSE and LSR", SloProfile::lsr),
    section("lsClass", kClass, "for pods of LS", SloProfile::ls),
    section("beClass", kClass, "for pods of BE", SloProfile::be),
    section("systemClass", kClass, "for pods of SYSTEM", SloProfile::system),
    section("cgroupRoot", kClass, "for everything on the node", SloProfile::root),
};

constexpr SloField kCpuBurst[] = {
    of_burst(word("policy", "how containers may exceed their CPU limit", "none|cpuBurstOnly|cfsQuotaBurstOnly|auto",
                  general("\"none\"")),
             "\"none\""),
    of_burst(number("cpuBurstPercent",
                    "saved-up CPU time that may be used at once, in percent of the limit (cpu.cfs_burst_us)", 0, 10000,
                    general("1000"))),
    of_burst(number("cfsQuotaBurstPercent",
                    "how far the quota of a throttled container is raised, in percent of its limit", 100, kNoMost,
                    general("300"))),
    of_burst(number("cfsQuotaBurstPeriodSeconds", "how long it may be raised, in seconds; -1: without end", -1, kNoMost,
                    general("-1"))),
    of_burst(percent("sharePoolThresholdPercent", "used share of the shared CPUs from which on no quota is raised",
                     general("50"))),
};

constexpr SloField kSystem[] = {
    // At most 500, which is 5% of the memory, because with more free memory the node has too little for its pods.
    number("minFreeKbytesFactor", "vm.min_free_kbytes in ten-thousandths of the memory", 1, 500),
    number("watermarkScaleFactor", "vm.watermark_scale_factor", 1, 400),
    number("memcgReapBackGround", "1: memory of ended cgroups is reclaimed in the background", 0, 1),
    number("schedGroupIdentityEnabled", "1: the kernel's scheduler has ranks (bvt)", 0, 1),
    number("schedIdleSaverWmark", "how idle a CPU must be for best-effort tasks to be put there, in nanoseconds", 0),
    {.name = "schedFeatures", .type = flags, .meaning = "features of the kernel's scheduler to switch on or off"},
    number("pageCacheLimitEnabled", "1: cgroups may have a limit of page cache", 0, 1),
    {.name = "totalNetworkBandwidth",
     .type = quantity,
     .meaning = "of the node's network, in bits a second; 0: unknown",
     .defaults = general("\"0\"")},
};

constexpr SloField kCgroupPath[] = {
    word("base", "base of the path", "CgroupRoot|Kubepods|KubepodsBurstable|KubepodsBesteffort"),
    {.name = "parentDir", .type = path, .meaning = "directory below the base"},
    {.name = "relativePath", .type = path, .meaning = "directory below that"},
};

constexpr SloField kHostApplication[] = {
    vital_part({.name = "name", .type = text, .meaning = "of the application"}, true),
    word("priority", "its priority class", "koord-prod|koord-mid|koord-batch|koord-free"),
    word("qos", "its QoS class", "LSE|LSR|LS|BE|SYSTEM"),
    vital_part(section("cgroupPath", kCgroupPath, "where its cgroup is")),
    {.name = "strategy", .meaning = "not used"},
};

constexpr SloField kSloSpec[] = {
    section("resourceUsedThresholdWithBE", kThreshold, "when best-effort pods give way"),
    section("resourceQOSStrategy", kResourceQos, "settings of each class of pods"),
    section("cpuBurstStrategy", kCpuBurst, "when containers may exceed their CPU limit"),
    section("systemStrategy", kSystem, "settings of the node's kernel"),
    {.name = "extensions", .meaning = "settings of others, by their names"},
    {.name = "hostApplications",
     .type = list,
     .meaning = "programs outside Kubernetes that are measured separately from the system",
     .fields = kHostApplication},
};

std::string range_of(const SloField& field) {
  const bool from = field.least != kNoLeast, to = field.most != kNoMost;
  if (from && to) return " from " + std::to_string(field.least) + " to " + std::to_string(field.most);
  if (from) return " of at least " + std::to_string(field.least);
  return to ? " of at most " + std::to_string(field.most) : "";
}

std::string words_of(std::string_view choices) {
  std::string words;
  for (char c : choices) words += c == '|' ? ", " : std::string(1, c);
  return words;
}

}  // namespace

std::string_view SloDefaults::of(SloProfile profile) const {
  switch (profile) {
    case SloProfile::general:
      return general;
    case SloProfile::lsr:
      return lsr;
    case SloProfile::ls:
      return ls;
    case SloProfile::be:
      return be;
    case SloProfile::system:
      return system;
    case SloProfile::root:
      return root;
  }
  return {};
}

std::span<const SloField> slo_schema() { return kSloSpec; }

std::string expected_of(const SloField& field) {
  switch (field.type) {
    case boolean:
      return "true or false";
    case integer:
      return "an integer" + range_of(field);
    case choice:
      return "one of " + words_of(field.choices);
    case text:
      return "text";
    case path:
      return "a directory below the root of the cgroup tree";
    case quantity:
      return "a quantity such as \"10Gi\"";
    case share:
      return "an integer" + range_of(field) + ", or a quantity such as \"50M\"";
    case object:
      return "a mapping";
    case list:
      return "a list";
    case flags:
      return "a mapping with true or false for each name";
    case anything:
      return "anything";
  }
  return "";
}

bool is_switched(const SloField& section) {
  return section.fields.data() == kCpuQos || section.fields.data() == kMemoryQos ||
         section.fields.data() == kResctrlQos;
}

}  // namespace koord::state
