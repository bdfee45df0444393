// SPDX-License-Identifier: Apache-2.0
// koordlet's tables of how a NodeSLO becomes settings, through the host's merge and the plugins' parsers: defaults,
// given fields, classes that are off, a pod's annotation, and contradictory numbers.
#include "core/state/slo.hpp"
#include "plugins/qos-cpu-evict/cpu_evict.hpp"
#include "plugins/qos-memory-evict/memory_evict.hpp"
#include "plugins/shared/slo/node_slo.hpp"
#include "plugins/shared/slo/pod_slo.hpp"
#include "test/composed/koordlet_table.hpp"

using namespace koord;

namespace {

slo::NodeSlo effective(std::string_view spec) {
  const auto merged = state::effective_slo(spec);
  REQUIRE(merged);
  const auto parsed = slo::parse_node_slo(merged->spec);
  REQUIRE(parsed);
  return parsed->slo;
}

// Returns the amount to release of 100 GB with this usage; 0 if the feature does not run.
std::int64_t released(const std::string& fields, std::int64_t used_gb) {
  eviction::Situation situation;
  situation.features = {"BEMemoryEvict"};
  situation.slo = *effective("{\"resourceUsedThresholdWithBE\": {\"enable\": true, " + fields + "}}").threshold;
  situation.capacity = 100'000'000'000;
  eviction::Candidate pod;
  pod.is_active = pod.is_best_effort = true;
  pod.used = 50'000'000'000;
  situation.pods = {pod};
  const eviction::Decision decision = memory_evict::decide(situation, used_gb * 1'000'000'000);
  return decision.demands.empty() ? 0 : decision.demands[0].amount / 1'000'000'000;
}

}  // namespace

TEST_CASE("koordlet's table: given fields override the defaults, and the other fields keep the defaults") {
  const slo::Threshold merged =
      *effective(R"({"resourceUsedThresholdWithBE": {"enable": true, "cpuSuppressThresholdPercent": 80}})").threshold;
  CHECK(merged.enable == true);
  CHECK(merged.cpu_suppress_threshold_percent == 80);
  CHECK(merged.memory_evict_threshold_percent == 70);
  CHECK(merged.cpu_suppress_policy == slo::SuppressPolicy::cpuset);
  CHECK(merged.cpu_evict_policy == slo::CpuEvictPolicy::real_limit);
  CHECK(*effective("{}").cpu_burst == slo::CpuBurst{slo::BurstPolicy::none, 1000, 300, -1, 50});
}

TEST_CASE(
    "koordlet's table: a class with its section off has values that revert its effect; one that is on has its own") {
  const slo::ResourceQos off = *effective("{}").resource_qos;
  CHECK(off.be->memory->wmark_ratio == 0);
  CHECK(off.be->resctrl->cat_range_end_percent == 100);
  const slo::ResourceQos on = *effective(R"({"resourceQOSStrategy": {"lsClass": {"memoryQOS": {"enable": true}},
    "beClass": {"memoryQOS": {"enable": true, "wmarkRatio": 90}, "resctrlQOS": {"enable": true, "catRangeEndPercent": 20}}}})")
                                   .resource_qos;
  CHECK(on.ls->memory->wmark_ratio == 95);
  CHECK(on.be->memory->wmark_ratio == 90);
  CHECK(on.be->memory->wmark_min_adj == 50);
  CHECK(on.be->resctrl->cat_range_start_percent == 0);
  CHECK(on.be->resctrl->cat_range_end_percent == 20);
  CHECK(on.lsr->memory->wmark_ratio == 0);
}

TEST_CASE("koordlet's table: a pod's cpuBurst replaces the node's fields one by one") {
  const slo::CpuBurst node{slo::BurstPolicy::automatic, 1000, 300, 600, 50};
  slo::Problems problems;
  const slo::CpuBurst pod = slo::cpu_burst_of(node, R"({"policy": "cpuBurstOnly", "cpuBurstPercent": 500})", problems);
  CHECK(pod == slo::CpuBurst{slo::BurstPolicy::cpu_burst_only, 500, 300, 600, 50});
  CHECK(slo::cpu_burst_of(node, std::nullopt, problems) == node);
  CHECK(problems.empty());
  CHECK(slo::cpu_burst_of(node, "no JSON", problems) == node);
}

TEST_CASE("koordlet's table: valid numbers of memory eviction have an effect, and contradictory numbers evict no pod") {
  CHECK(released(R"("memoryEvictThresholdPercent": 70, "memoryEvictLowerPercent": 65)", 80) == 15);
  CHECK(released(R"("memoryEvictThresholdPercent": 70)", 80) == 12);
  CHECK(released(R"("memoryEvictThresholdPercent": 90)", 80) == 0);
  // koordlet refuses to run with each of these. With a default in their place, a pod would be evicted.
  CHECK(released(R"("memoryEvictThresholdPercent": 60, "memoryEvictLowerPercent": 65)", 80) == 0);
  CHECK(released(R"("memoryEvictThresholdPercent": -1)", 80) == 0);
  CHECK(released(R"("memoryEvictLowerPercent": 75)", 80) == 0);
}
