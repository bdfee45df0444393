// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "plugins/shared/slo/node_slo.hpp"
#include "plugins/shared/slo/pod_slo.hpp"

using namespace koord::slo;

namespace {

NodeSlo slo_of(std::string_view spec) {
  const koord::Result<ParsedSlo> parsed = parse_node_slo(spec);
  REQUIRE(parsed);
  CHECK(parsed->problems == Problems{});
  return parsed->slo;
}

MemoryQos memory_of(std::string_view fields) {
  const NodeSlo slo = slo_of(R"({"resourceQOSStrategy":{"lsClass":{"memoryQOS":)" + std::string(fields) + "}}}");
  return *slo.resource_qos->ls->memory;
}

}  // namespace

TEST_CASE("an empty text gives no section, which means unknown and not off") { CHECK(slo_of("") == NodeSlo{}); }

TEST_CASE("a missing section or field of a NodeSLO gives no value") {
  const NodeSlo slo = slo_of(R"({"systemStrategy":{"watermarkScaleFactor":150}})");
  CHECK_FALSE(slo.threshold);
  CHECK_FALSE(slo.cpu_burst);
  CHECK_FALSE(slo.resource_qos);
  CHECK(slo.system->watermark_scale_factor == 150);
  CHECK_FALSE(slo.system->min_free_kbytes_factor);
}

TEST_CASE("text that is not a JSON mapping is an error") {
  CHECK(parse_node_slo("{").error().message().starts_with("the NodeSLO's spec: not JSON"));
  CHECK(parse_node_slo("[]").error().message() == "the NodeSLO's spec: found [], expected a mapping");
}

TEST_CASE("resourceUsedThresholdWithBE is read completely") {
  const Threshold threshold = *slo_of(R"({"resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressThresholdPercent":65,
    "cpuSuppressMinPercent":10,"cpuSuppressPolicy":"cfsQuota","memoryEvictThresholdPercent":70,"memoryEvictLowerPercent":68,
    "memoryAllocatableEvictThresholdPercent":110,"memoryAllocatableEvictLowerPercent":100,"cpuEvictBESatisfactionUpperPercent":40,
    "cpuEvictBESatisfactionLowerPercent":30,"cpuEvictBEUsageThresholdPercent":90,"cpuEvictTimeWindowSeconds":60,
    "cpuEvictThresholdPercent":80,"cpuEvictLowerPercent":75,"cpuAllocatableEvictThresholdPercent":111,
    "cpuAllocatableEvictLowerPercent":101,"cpuEvictPolicy":"evictByAllocatable","evictEnabledPriorityThreshold":5999,
    "allocatableEvictPriorityThreshold":7999}})")
                                   .threshold;
  CHECK(threshold == Threshold{true, 65, 10, SuppressPolicy::cfs_quota, 70, 68, 110, 100, 40, 30, 90, 60, 80, 75, 111,
                               101, CpuEvictPolicy::allocatable, 5999, 7999});
}

TEST_CASE("cpuBurstStrategy and systemStrategy are read completely") {
  const NodeSlo slo = slo_of(R"({"cpuBurstStrategy":{"policy":"auto","cpuBurstPercent":1000,"cfsQuotaBurstPercent":300,
    "cfsQuotaBurstPeriodSeconds":-1,"sharePoolThresholdPercent":50},"systemStrategy":{"minFreeKbytesFactor":100,
    "watermarkScaleFactor":150,"memcgReapBackGround":1,"schedGroupIdentityEnabled":0,"schedIdleSaverWmark":7,
    "pageCacheLimitEnabled":1,"schedFeatures":{"ID_EXPELLER_SHARE_CORE":false,"X":true,"UNSET":null}}})");
  CHECK(slo.cpu_burst == CpuBurst{BurstPolicy::automatic, 1000, 300, -1, 50});
  CHECK(slo.system == System{100, 150, 1, 0, 7, 1, {{"ID_EXPELLER_SHARE_CORE", false}, {"X", true}}});
}

TEST_CASE("a class has its sections of CPU, memory, block devices and resctrl") {
  const ClassQos be =
      *slo_of(R"({"resourceQOSStrategy":{"beClass":{"cpuQOS":{"enable":true,"groupIdentity":-1,"schedIdle":1,
    "coreExpeller":false},"memoryQOS":{"enable":true,"minLimitPercent":1,"lowLimitPercent":2,"throttlingPercent":80,"wmarkRatio":95,
    "wmarkScalePermill":20,"wmarkMinAdj":50,"priorityEnable":1,"priority":3,"oomKillGroup":1,"pageCacheEnable":true,
    "pageCacheLimitPercent":10,"pageCacheLimitSize":"512Mi","pageCacheReclaimSync":true},"blkioQOS":{"enable":true,"blocks":[
    {"name":"vda","type":"device","ioCfg":{"readIOPS":2048,"ioWeightPercent":60}},{"name":"vg","type":"volumegroup"}]},
    "resctrlQOS":{"enable":true,"catRangeStartPercent":0,"catRangeEndPercent":30,"mbaPercent":100}}}})")
           .resource_qos->be;
  CHECK(be.cpu == CpuQos{true, -1, 1, false});
  CHECK(be.memory == MemoryQos{true, 1, 2, 80, 95, 20, 50, 1, 3, 1, true, 10, 512 << 20, true});
  REQUIRE(be.blkio->blocks.size() == 2);
  CHECK(be.blkio->blocks[0].type == BlockType::device);
  CHECK(be.blkio->blocks[0].io.read_iops == 2048);
  CHECK(be.blkio->blocks[0].io.weight_percent == 60);
  CHECK_FALSE(be.blkio->blocks[0].io.write_iops);
  CHECK(be.blkio->blocks[1] == Block{"vg", BlockType::volume_group, {}});
  CHECK(be.resctrl == ResctrlQos{true, 0, 30, 100});
}

TEST_CASE("an invalid value is reported and counts as missing, other values are kept") {
  const koord::Result<ParsedSlo> parsed =
      parse_node_slo(R"({"systemStrategy":{"watermarkScaleFactor":401,"memcgReapBackGround":1},
    "cpuBurstStrategy":7,"resourceUsedThresholdWithBE":{"enable":"yes","cpuSuppressPolicy":"idle"}})");
  REQUIRE(parsed);
  CHECK_FALSE(parsed->slo.system->watermark_scale_factor);
  CHECK(parsed->slo.system->memcg_reap_background == 1);
  CHECK_FALSE(parsed->slo.cpu_burst);
  CHECK(parsed->slo.inactive.contains("CPUBurst"));
  CHECK(parsed->slo.inactive.contains("BECPUSuppress"));
  CHECK(parsed->problems ==
        Problems{"resourceUsedThresholdWithBE.enable: found \"yes\", expected true or false",
                 "resourceUsedThresholdWithBE.cpuSuppressPolicy: found \"idle\", which is no known choice",
                 "cpuBurstStrategy: found 7, expected a mapping",
                 "systemStrategy.watermarkScaleFactor: found 401, expected an integer from 1 to 400"});
}

TEST_CASE("LSE pods use the section of LSR, pods without a class use none") {
  const ResourceQos strategy =
      *slo_of(R"({"resourceQOSStrategy":{"lsrClass":{},"lsClass":{},"beClass":{}}})").resource_qos;
  CHECK(class_for(strategy, KOORD_QOS_LSE) == class_for(strategy, KOORD_QOS_LSR));
  CHECK(class_for(strategy, KOORD_QOS_LS) == &*strategy.ls);
  CHECK(class_for(strategy, KOORD_QOS_BE) == &*strategy.be);
  CHECK(class_for(strategy, KOORD_QOS_SYSTEM) == nullptr);
  CHECK(class_for(strategy, KOORD_QOS_NONE) == nullptr);
}

TEST_CASE(
    "cpuBurst: a pod's annotation replaces field by field, whatever the case of names, but not the node's threshold") {
  Problems problems;
  const CpuBurst node{BurstPolicy::none, 1000, 300, -1, 50};
  CHECK(cpu_burst_of(node, std::nullopt, problems) == node);
  CHECK(cpu_burst_of(node, R"({"POLICY":"auto","cpuBurstPercent":200,"sharePoolThresholdPercent":1})", problems) ==
        CpuBurst{BurstPolicy::automatic, 200, 300, -1, 50});
  CHECK(problems == Problems{});
}

TEST_CASE("an unreadable annotation does not count and is reported") {
  Problems problems;
  const CpuBurst node{BurstPolicy::none, 1000, 300, -1, 50};
  CHECK(cpu_burst_of(node, "policy: auto", problems) == node);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].starts_with("koordinator.sh/cpuBurst: not JSON"));
}

TEST_CASE("cpuBurst: an annotation with an invalid field makes the pod's burst inactive") {
  const CpuBurst node{BurstPolicy::automatic, 1000, 300, -1, 50};
  for (const char* text : {R"({"cfsQuotaBurstPercent":90})", R"({"policy":"nonsense"})", R"({"cpuBurstPercent":-1})",
                           R"({"cfsQuotaBurstPeriodSeconds":"long"})", R"({"policy":7})"}) {
    CAPTURE(text);
    Problems problems;
    CHECK(cpu_burst_of(node, text, problems).policy == BurstPolicy::none);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].ends_with("; the pod's CPU burst is inactive"));
  }
  Problems problems;
  CHECK(cpu_burst_of(node, R"({"sharePoolThresholdPercent":900})", problems) == node);  // a pod cannot set it
}

TEST_CASE("strategies are inactive if the host lists them or if a value that no host has checked is invalid") {
  const NodeSlo named = slo_of(
      R"({"cpuBurstStrategy":{"policy":"auto"},"koordetector.sh/inactiveStrategies":{"CPUBurst":"why","BECPUEvict":7}})");
  CHECK(named.inactive == std::map<std::string, std::string, std::less<>>{{"CPUBurst", "why"}});
  CHECK(named.cpu_burst->policy == BurstPolicy::none);
  const koord::Result<ParsedSlo> raw =
      parse_node_slo(R"({"resourceUsedThresholdWithBE":{"memoryEvictThresholdPercent":-1},
    "resourceQOSStrategy":{"beClass":{"resctrlQOS":{"enable":true,"mbaPercent":101}}}})");
  REQUIRE(raw);
  std::vector<std::string> names;
  for (const auto& [name, reason] : raw->slo.inactive) names.push_back(name);
  CHECK(names == std::vector<std::string>{"BEMemoryEvict", "MemoryEvict", "RdtResctrl/beClass"});
  CHECK(raw->slo.resource_qos->be->resctrl->enable == false);
}

TEST_CASE("memoryQOS: without a policy, and with 'default', the class's values apply where the pod has no own value") {
  Problems problems;
  const MemoryQos of_class = memory_of(R"({"enable":true,"minLimitPercent":100,"wmarkRatio":95})");
  for (const char* text : {R"({"lowLimitPercent":50})", R"({"policy":"default","lowLimitPercent":50})",
                           R"({"policy":"","lowLimitPercent":50})"}) {
    const PodMemoryQos pod = memory_qos_of(of_class, KOORD_QOS_LS, text, problems);
    CHECK(pod.values.min_limit_percent == 100);
    CHECK(pod.values.low_limit_percent == 50);
    CHECK(pod.own.low_limit_percent == 50);
    CHECK_FALSE(pod.own.min_limit_percent);
  }
  CHECK(memory_qos_of(of_class, KOORD_QOS_LS, std::nullopt, problems).values == of_class);
  CHECK(problems == Problems{});
}

TEST_CASE("memoryQOS: policy 'none' gives no values, whatever else the annotation contains") {
  Problems problems;
  const MemoryQos of_class = memory_of(R"({"enable":true,"minLimitPercent":100})");
  const PodMemoryQos pod = memory_qos_of(of_class, KOORD_QOS_LS, R"({"policy":"none","minLimitPercent":30})", problems);
  CHECK(pod.values == MemoryQos{});
  CHECK(pod.own == MemoryQos{});
}

TEST_CASE("memoryQOS: policy 'auto' begins with the values recommended for the class, even if the node has it off") {
  Problems problems;
  const PodMemoryQos pod =
      memory_qos_of(MemoryQos{}, KOORD_QOS_BE, R"({"policy":"auto","minLimitPercent":10})", problems);
  CHECK(pod.values.wmark_ratio == 95);
  CHECK(pod.values.wmark_min_adj == 50);
  CHECK(pod.values.min_limit_percent == 10);
  CHECK_FALSE(pod.own.wmark_ratio);
}

TEST_CASE("memoryQOS: an unknown policy is reported and counts as unset") {
  Problems problems;
  CHECK(memory_qos_of(memory_of(R"({"minLimitPercent":5})"), KOORD_QOS_LS, R"({"policy":"most"})", problems)
            .values.min_limit_percent == 5);
  CHECK(problems == Problems{"koordinator.sh/memoryQOS.policy: found \"most\", which is no known choice"});
}

TEST_CASE("blkioQOS: an empty annotation is an empty list, an unreadable one or one without a list is nullopt") {
  Problems problems;
  CHECK(blocks_of("", problems) == std::vector<Block>{});
  CHECK(blocks_of(R"({"blocks":[]})", problems) == std::vector<Block>{});
  CHECK(blocks_of(std::nullopt, problems) == std::nullopt);
  CHECK(blocks_of("{}", problems) == std::nullopt);
  CHECK(problems == Problems{});
  CHECK(blocks_of("[", problems) == std::nullopt);
  CHECK(problems.size() == 1);
}

TEST_CASE("blkioQOS: a block without name or type is left out and reported, the others are kept") {
  Problems problems;
  const auto blocks = blocks_of(R"({"blocks":[{"type":"device"},{"name":"a","type":"disk"},
    {"name":"b","type":"podvolume","iocfg":{"readBPS":1}},3]})",
                                problems);
  REQUIRE(blocks);
  REQUIRE(blocks->size() == 1);
  CHECK(blocks->front().type == BlockType::pod_volume);
  CHECK(blocks->front().io.read_bps == 1);
  CHECK(problems.size() == 4);
  CHECK(problems.back() == "koordinator.sh/blkioQOS.blocks[3]: found 3, expected a mapping");
}

TEST_CASE("a pod's own share of caches and bandwidth may differ by cache, and is nullopt if nothing is requested") {
  Problems problems;
  const auto pod =
      resctrl_of(R"({"llc": {"schemata": {"range": [0, 50]}, "schemataPerCache": [{"cacheid": 1, "range": [50, 100]}]},
                                  "mb": {"schemata": {"percent": 40}, "schemataPerCache": [{"cacheID": 0, "percent": 0}]}})",
                 problems);
  REQUIRE(pod);
  CHECK(pod->l3_range == std::pair<std::int64_t, std::int64_t>(0, 50));
  CHECK(pod->l3_of_cache.at(1) == std::pair<std::int64_t, std::int64_t>(50, 100));
  CHECK(pod->mb_percent == 40);
  CHECK(pod->mb_of_cache.empty());
  CHECK(problems.empty());
  CHECK_FALSE(resctrl_of(R"({"mb": {"schemata": {"percent": 0}}})", problems));
  CHECK_FALSE(resctrl_of(std::nullopt, problems));
  CHECK(problems.empty());
}

TEST_CASE("an invalid range of a cache is reported and ignored") {
  Problems problems;
  for (const char* range : {"[30, 10]", "[0]", "[0, 101]", "7"}) {
    const std::string text = std::string(R"({"llc": {"schemata": {"range": )") + range + "}}}";
    CHECK_FALSE(resctrl_of(text, problems));
  }
  REQUIRE(problems.size() == 4);
  CHECK(
      problems[0] ==
      "node.koordinator.sh/resctrl.llc.schemata.range: found [30,10], expected two integers from 0 to 100, the first the smaller; "
      "the pod gets no group of its own");
  CHECK_FALSE(
      resctrl_of(R"({"llc": {"schemata": {"range": [30, 30]}}, "mb": {"schemata": {"percent": 40}}})", problems));
}

TEST_CASE("annotations and labels of a pod are found by their key") {
  const koord_label labels[] = {{koord::plugin::str("a"), koord::plugin::str("1")},
                                {koord::plugin::str("b"), koord::plugin::str("")}};
  koord_pod pod{};
  pod.annotations = labels;
  pod.n_annotations = 2;
  pod.label_stride = sizeof(koord_label);
  CHECK(annotation_of(pod, "a") == "1");
  CHECK(annotation_of(pod, "b") == "");
  CHECK(annotation_of(pod, "c") == std::nullopt);
  CHECK(label_of(pod, "a") == std::nullopt);
}
