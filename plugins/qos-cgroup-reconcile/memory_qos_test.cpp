// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cgroup-reconcile/memory_qos.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "plugins/shared/slo/node_slo.hpp"

using namespace koord::cgroup_reconcile;
using koord::strategy::Intent;
namespace slo = koord::slo;

namespace {

constexpr std::int64_t kMi = 1 << 20, kGi = 1 << 30;

slo::ResourceQos strategy_of(const std::string& classes) {
  const auto parsed = slo::parse_node_slo(R"({"resourceQOSStrategy":{)" + classes + "}}");
  REQUIRE(parsed);
  REQUIRE(parsed->slo.resource_qos);
  return *parsed->slo.resource_qos;
}

slo::ResourceQos ls_with(const std::string& fields) {
  return strategy_of(R"("lsClass":{"memoryQOS":{"enable":true,)" + fields + "}}");
}

PodInput burstable(const std::string& name, std::int64_t request, std::vector<ContainerInput> containers = {}) {
  return {
      "shop/" + name,       "kubepods/burstable/pod" + name, KOORD_QOS_LS, KOORD_KUBE_QOS_BURSTABLE, request, {}, {},
      std::move(containers)};
}

// Returns lines "level knob dir = value" in alphabetical order.
std::vector<std::string> shown(const Plan& plan) {
  std::vector<std::string> lines;
  for (const Intent& intent : plan.intents)
    lines.push_back(std::string(intent.level == KOORD_LEVEL_QOS   ? "qos"
                                : intent.level == KOORD_LEVEL_POD ? "pod"
                                                                  : "container") +
                    " " + intent.knob + " " + intent.cgroup_dir + " = " + intent.value);
  std::sort(lines.begin(), lines.end());
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("memory.high is between request and limit, on a page boundary: 512 Mi, 1 Gi, 80 % give 966365184") {
  CHECK(memory_high(512 * kMi, kGi, 80, 4096) == 966365184);
}

TEST_CASE("memory.high of 0 % means no throttling") { CHECK(memory_high(512 * kMi, kGi, 0, 4096) == std::nullopt); }

TEST_CASE("memory.high: a limit below the request counts as the request, and large amounts do not overflow") {
  CHECK(memory_high(kGi, kMi, 80, 4096) == kGi);
  CHECK(memory_high(0, INT64_MAX, 100, 4096) == INT64_MAX / 4096 * 4096);
}

TEST_CASE(
    "a plan that is too large keeps the classes and the most important pods, and reports once how much is left out") {
  Inputs inputs;
  for (int i = 0; i < 200; ++i) {  // best-effort pods come first in the list
    PodInput be = burstable("be" + std::to_string(i), kGi);
    be.qos = KOORD_QOS_BE;
    be.cgroup_dir = "kubepods/besteffort/podbe" + std::to_string(i);
    be.kube_qos = KOORD_KUBE_QOS_BEST_EFFORT;
    inputs.pods.push_back(be);
  }
  inputs.pods.push_back(burstable("ls", kGi, {{"kubepods/burstable/podls/c", kGi, 2 * kGi}}));
  PodInput lsr = burstable("lsr", kGi);
  lsr.qos = KOORD_QOS_LSR;
  inputs.pods.push_back(lsr);
  const slo::ResourceQos strategy = strategy_of(R"("lsrClass":{"memoryQOS":{"enable":true,"minLimitPercent":50}},
    "lsClass":{"memoryQOS":{"enable":true,"minLimitPercent":50,"throttlingPercent":80}},
    "beClass":{"memoryQOS":{"enable":true,"minLimitPercent":50}})");
  const Plan whole = plan(strategy, inputs);
  CHECK(whole.left_out == 0);
  CHECK(whole.problems.empty());
  inputs.most_intents = 100;
  const Plan part = plan(strategy, inputs);
  CHECK(part.intents.size() + part.highs.size() == 100);
  CHECK(part.left_out == whole.intents.size() + whole.highs.size() - 100);
  REQUIRE(part.problems.size() == 1);
  CHECK(part.problems[0] == "a plan has at most 100 intents: " + std::to_string(part.left_out) +
                                " for the least important pods are left out");
  CHECK(part.highs.size() == 1);
  const auto place = [&](std::string_view dir) {
    return std::find_if(part.intents.begin(), part.intents.end(),
                        [&](const Intent& intent) { return intent.cgroup_dir == dir; }) -
           part.intents.begin();
  };
  CHECK(part.intents[0].level == KOORD_LEVEL_QOS);
  CHECK(place("kubepods/besteffort") < place("kubepods/burstable/podlsr"));
  CHECK(place("kubepods/burstable/podlsr") < place("kubepods/burstable/podls"));
  CHECK(place("kubepods/burstable/podls") < place("kubepods/burstable/podls/c"));
  CHECK(place("kubepods/burstable/podls/c") < place("kubepods/besteffort/podbe0"));
}

TEST_CASE("a knob that the node lacks uses no place in a plan") {
  Inputs inputs;
  inputs.pods = {burstable("a", kGi, {{"kubepods/burstable/poda/c", kGi, 2 * kGi}})};
  inputs.missing_knobs = {"memory.high", "memory.wmark_ratio", "memory.wmark_scale_factor", "memory.wmark_min_adj"};
  const Plan planned = plan(ls_with(R"("throttlingPercent":80,"wmarkRatio":90)"), inputs);
  CHECK(planned.intents.empty());
  CHECK(planned.highs.empty());
}

TEST_CASE("page cache: a size is limited to the memory limit, and switches the page cache limit on") {
  slo::MemoryQos values;
  values.page_cache_limit_bytes = 512 * kMi;
  CHECK(page_cache_of(values, kGi) == PageCache{true, false, 536870912});
  values.page_cache_limit_bytes = 2 * kGi;
  CHECK(page_cache_of(values, kGi) == PageCache{true, false, 1073741824});
  CHECK(page_cache_of(values, std::nullopt) == PageCache{true, false, 2 * kGi});
}

TEST_CASE(
    "page cache: size 0 switches it off, without settings nothing is proposed, and the switch comes before the size") {
  slo::MemoryQos values;
  CHECK(page_cache_of(values, kGi) == PageCache{});
  values.page_cache_limit_bytes = 0;
  CHECK(page_cache_of(values, kGi) == PageCache{false, std::nullopt, 0});
  values.page_cache_enable = true;
  CHECK(page_cache_of(values, kGi) == PageCache{true, std::nullopt, 0});
  CHECK(page_cache_of({.page_cache_enable = false}, kGi) == PageCache{false, std::nullopt, std::nullopt});
}

TEST_CASE("page cache: a percentage refers to the limit, and is ignored without a limit") {
  slo::MemoryQos values;
  values.page_cache_limit_percent = 10;
  values.page_cache_reclaim_sync = true;
  CHECK(page_cache_of(values, 1000) == PageCache{true, true, 100});
  CHECK(page_cache_of(values, std::nullopt) == PageCache{});
}

TEST_CASE("a protected class: container, pod and each directory above get min and low, the directories the sums") {
  const Inputs inputs = {{burstable("a", 1000, {{"kubepods/burstable/poda/c", 700, {}}}), burstable("b", 500)}, {}};
  const Plan planned = plan(ls_with(R"("minLimitPercent":50,"lowLimitPercent":100)"), inputs);
  CHECK(shown(planned) ==
        Lines{"container memory.low kubepods/burstable/poda/c = 700",
              "container memory.min kubepods/burstable/poda/c = 350", "pod memory.low kubepods/burstable/poda = 1000",
              "pod memory.low kubepods/burstable/podb = 500", "pod memory.min kubepods/burstable/poda = 500",
              "pod memory.min kubepods/burstable/podb = 250", "qos memory.low kubepods = 1500",
              "qos memory.low kubepods/burstable = 1500", "qos memory.min kubepods = 750",
              "qos memory.min kubepods/burstable = 750"});
  const auto of_pod = std::find_if(planned.intents.begin(), planned.intents.end(),
                                   [](const Intent& intent) { return intent.level == KOORD_LEVEL_POD; });
  REQUIRE(of_pod != planned.intents.end());
  CHECK(of_pod->reason == "50 % of the memory request, by lsClass.memoryQOS.minLimitPercent");
}

TEST_CASE("protection reaches up to the root, also below kubelets with pods further down in the tree") {
  PodInput pod = burstable("a", 1000);
  pod.cgroup_dir = "kubelet/kubepods/burstable/poda";
  const Lines lines = shown(plan(ls_with(R"("minLimitPercent":100)"), {{pod}, {}}));
  CHECK(std::count(lines.begin(), lines.end(), "qos memory.min kubelet = 1000") == 1);
}

TEST_CASE("low is never less than min if min is set") {
  const Lines lines =
      shown(plan(ls_with(R"("minLimitPercent":80,"lowLimitPercent":10)"), {{burstable("a", 1000)}, {}}));
  CHECK(std::count(lines.begin(), lines.end(), "pod memory.low kubepods/burstable/poda = 800") == 1);
}

TEST_CASE("when the last pod of a class has ended, its directories' protection is not proposed any more") {
  CHECK(plan(ls_with(R"("minLimitPercent":50,"priority":5)"), {}).intents.empty());
}

TEST_CASE(
    "values that equal the kernel's defaults are not proposed: the class's defaults without settings propose nothing") {
  const std::string neutral =
      R"("minLimitPercent":0,"lowLimitPercent":0,"throttlingPercent":0,"wmarkRatio":0,"wmarkScalePermill":50,)"
      R"("wmarkMinAdj":0,"priorityEnable":0,"priority":0,"oomKillGroup":0)";
  const Plan planned = plan(ls_with(neutral), {{burstable("a", kGi, {{"kubepods/burstable/poda/c", kGi, kGi}})}, kGi});
  CHECK(planned.intents.empty());
  CHECK(planned.highs.empty());
}

TEST_CASE("a value of the pod's annotation is proposed even if it is the kernel's default") {
  PodInput pod = burstable("a", kGi);
  pod.annotation = R"({"oomKillGroup":0})";
  const Plan planned = plan(ls_with(R"("oomKillGroup":1)"), {{pod}, {}});
  CHECK(shown(planned) == Lines{"pod memory.oom.group kubepods/burstable/poda = 0"});
  CHECK(planned.intents.front().reason == "oomKillGroup is 0, by koordinator.sh/memoryQOS of the pod");
}

TEST_CASE("the directory has the rank of the class and the pod its own; oom.group is never set on the directory") {
  PodInput pod = burstable("a", 0);
  pod.annotation = R"({"priority":7})";
  CHECK(shown(plan(ls_with(R"("priority":3,"priorityEnable":1,"oomKillGroup":1)"), {{pod}, {}})) ==
        Lines{"pod memory.oom.group kubepods/burstable/poda = 1", "pod memory.priority kubepods/burstable/poda = 7",
              "pod memory.use_priority_oom kubepods/burstable/poda = 1", "qos memory.priority kubepods/burstable = 3",
              "qos memory.use_priority_oom kubepods/burstable = 1"});
}

TEST_CASE("a class that is off proposes nothing, including system, but a pod's annotation applies nevertheless") {
  PodInput plain = burstable("a", 1000), own = burstable("b", 1000);
  plain.qos = own.qos = KOORD_QOS_SYSTEM;
  own.annotation = R"({"policy":"auto","minLimitPercent":10})";
  const Plan planned =
      plan(strategy_of(R"("systemClass":{"memoryQOS":{"enable":false,"minLimitPercent":50,"priority":3}})"),
           {{plain, own}, {}});
  CHECK(shown(planned) == Lines{"pod memory.min kubepods/burstable/podb = 100", "qos memory.min kubepods = 100",
                                "qos memory.min kubepods/burstable = 100"});
}

TEST_CASE("policy none excludes a pod from all of it") {
  PodInput pod = burstable("a", 1000, {{"kubepods/burstable/poda/c", 1000, 2000}});
  pod.annotation = R"({"policy":"none"})";
  const Plan planned = plan(ls_with(R"("minLimitPercent":50,"throttlingPercent":80,"wmarkRatio":95)"), {{pod}, {}});
  CHECK(planned.intents.empty());
  CHECK(planned.highs.empty());
}

TEST_CASE("an unreadable annotation is reported with the pod's name, and the class's values apply") {
  PodInput pod = burstable("a", 1000);
  pod.annotation = "{";
  const Plan planned = plan(ls_with(R"("minLimitPercent":50)"), {{pod}, {}});
  CHECK(planned.intents.size() == 3);
  REQUIRE(planned.problems.size() == 1);
  CHECK(planned.problems[0].starts_with("pod shop/a: koordinator.sh/memoryQOS: not JSON"));
}

TEST_CASE("memory.high is relative to the container's limit or the node's memory for pods, and not below min") {
  const PodInput pod = burstable("a", kGi, {{"c1", 512 * kMi, kGi}, {"c2", 512 * kMi, {}}, {"c3", kGi, kGi}});
  const Plan planned = plan(ls_with(R"("throttlingPercent":80,"minLimitPercent":100)"), {{pod}, 2 * kGi});
  REQUIRE(planned.highs.size() == 3);
  CHECK(planned.highs[0].target == 966365184);
  CHECK(planned.highs[0].reason ==
        "80 % of the way from its memory request to its limit, by lsClass.memoryQOS.throttlingPercent");
  CHECK(planned.highs[1].target == 512 * kMi + 1536 * kMi / 100 * 80 / 4096 * 4096);
  CHECK(planned.highs[1].limit == std::nullopt);
  CHECK(planned.highs[2].target == kGi);
}

TEST_CASE("without a limit and with an unknown size of the node there is no memory.high") {
  const PodInput pod = burstable("a", kGi, {{"c", 512 * kMi, {}}});
  CHECK(plan(ls_with(R"("throttlingPercent":80)"), {{pod}, {}}).highs.empty());
}

TEST_CASE(
    "without a pod's spec its limits are unknown: no memory.high, whatever the node has, and one line for all these pods") {
  PodInput first = burstable("a", 0, {{"c", 0, {}}}), second = burstable("b", 0, {{"d", 0, {}}});
  first.has_spec = second.has_spec = false;
  const Plan planned = plan(ls_with(R"("throttlingPercent":80,"priority":3)"), {{first, second}, 2 * kGi});
  CHECK(planned.highs.empty());
  CHECK(planned.intents.size() == 5);  // memory.priority of both pods, of their containers and of the class
  CHECK(planned.problems ==
        slo::Problems{"throttlingPercent: the memory limits of pods from the state source cgroup are unknown"});
  CHECK(plan(ls_with(R"("priority":3)"), {{first, second}, 2 * kGi}).problems.empty());
}

TEST_CASE("page cache limits are set on the pod") {
  PodInput pod = burstable("a", 0);
  pod.limit = kGi;
  CHECK(shown(plan(ls_with(R"("pageCacheLimitPercent":50)"), {{pod}, {}})) ==
        Lines{"pod memory.pagecache_limit.enable kubepods/burstable/poda = 1",
              "pod memory.pagecache_limit.size kubepods/burstable/poda = 536870912",
              "pod memory.pagecache_limit.sync kubepods/burstable/poda = 0"});
}

TEST_CASE("a pod with an unknown cgroup is left out") {
  PodInput pod = burstable("a", 1000);
  pod.cgroup_dir.clear();
  CHECK(plan(ls_with(R"("minLimitPercent":50)"), {{pod}, {}}).intents.empty());
}
