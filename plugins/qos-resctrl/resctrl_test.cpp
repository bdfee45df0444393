// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-resctrl/resctrl.hpp"

#include <doctest/doctest.h>

#include "plugins/qos-resctrl/resctrl_tree.hpp"

using namespace koord::rdt;
using koord::strategy::Intent;

namespace {

Cache cache_of(std::uint64_t mask, unsigned least = 1, bool gaps = false) {
  return {.mask = mask, .least_bits = least, .takes_gaps = gaps, .ids = {0}};
}

std::string mask(std::uint64_t all, std::int64_t begin, std::int64_t end) {
  return hexadecimal(mask_of(cache_of(all), begin, end));
}

koord::slo::ClassQos part(std::int64_t begin, std::int64_t end, std::int64_t bandwidth, bool enable = true) {
  koord::slo::ClassQos section;
  section.resctrl = koord::slo::ResctrlQos{enable, begin, end, bandwidth};
  return section;
}

koord::slo::PodResctrl own_range(std::int64_t begin, std::int64_t end) {
  koord::slo::PodResctrl own;
  own.l3_range = std::pair(begin, end);
  return own;
}

struct ResctrlFixture {
  ResctrlFixture() { inputs.hardware = &hardware, inputs.strategy = &strategy; }

  Hardware hardware{
      .l3 = Cache{.mask = 0x7ff, .least_bits = 1, .takes_gaps = false, .ids = {0, 1}},
      .bandwidth = Bandwidth{.unit = BandwidthUnit::percent, .least = 10, .step = 10, .unlimited = 100, .ids = {0, 1}},
      .closids = 8};
  koord::slo::ResourceQos strategy;
  Inputs inputs;

  void add_pod(const char* uid, std::uint32_t qos, std::optional<koord::slo::PodResctrl> own = {}) {
    inputs.pods.push_back({uid, std::string("shop/") + uid, std::string("pod-") + uid, qos, std::move(own)});
  }
};

using Texts = std::vector<std::string>;

Texts texts(const Plan& plan) {
  Texts texts;
  for (const Intent& intent : plan.intents) texts.push_back(intent.knob + " " + intent.cgroup_dir + " " + intent.value);
  return texts;
}

}  // namespace

TEST_CASE("a percent range is a run of the cache's parts, with both ends rounded up") {
  CHECK(mask(0x3ff, 10, 80) == "fe");
  CHECK(mask(0x7ff, 10, 50) == "3c");
  CHECK(mask(0x7ff, 0, 30) == "f");
  CHECK(mask(0xfff, 0, 30) == "f");
  CHECK(mask(0x7ff, 0, 100) == "7ff");
}

TEST_CASE("a narrow range still gives a group at least one part, and the CPU's minimum") {
  CHECK(mask(0x7ff, 1, 9) == "2");
  CHECK(mask(0x7ff, 99, 100) == "400");
  CHECK(hexadecimal(mask_of(cache_of(0x7ff, 2), 0, 5)) == "3");
  CHECK(hexadecimal(mask_of(cache_of(0x7ff, 2), 95, 100)) == "600");
}

TEST_CASE("if the parts of a cache are not adjacent a group gets a run, or all its parts if the CPU permits gaps") {
  CHECK(hexadecimal(mask_of(cache_of(0xf0f, 1, false), 0, 100)) == "f");
  CHECK(hexadecimal(mask_of(cache_of(0xf0f, 1, true), 0, 100)) == "f0f");
  CHECK(hexadecimal(mask_of(cache_of(0xf0f, 1, true), 25, 75)) == "30c");
  CHECK(hexadecimal(mask_of(cache_of(0xf5, 3, false), 0, 40)) == "f0");
}

TEST_CASE("bandwidth in percent is rounded up to the CPU's step, and is at least its minimum") {
  const Bandwidth intel{.unit = BandwidthUnit::percent, .least = 10, .step = 10, .unlimited = 100, .ids = {0}};
  CHECK(bandwidth_of(intel, 85, 100) == 90);
  CHECK(bandwidth_of(intel, 90, 100) == 90);
  CHECK(bandwidth_of(intel, 1, 100) == 10);
  CHECK(bandwidth_of(intel, 100, 100) == 100);
}

TEST_CASE("on AMD it is in eighths of a domain's GB/s, and 100 percent is no limit") {
  const Bandwidth amd{.unit = BandwidthUnit::eighths, .least = 1, .step = 1, .unlimited = 2048, .ids = {0}};
  CHECK(bandwidth_of(amd, 80, 160) == 128);
  CHECK(bandwidth_of(amd, 100, 160) == 2048);
  CHECK(bandwidth_of(amd, 1, 10) == 1);
}

TEST_CASE("domains of a line are parsed in any order, with spaces and gaps") {
  const char* schemata = "    MB:4=100;0=2048\n    L3:0=7ff;8=fff\nL3CODE:1=3\n";
  CHECK(domains_in(schemata, "L3") == std::vector<std::uint32_t>{0, 8});
  CHECK(domains_in(schemata, "MB") == std::vector<std::uint32_t>{0, 4});
  CHECK(domains_in(schemata, "L2").empty());
  CHECK(largest_in(schemata, "MB", 10) == 2048);
  CHECK(largest_in(schemata, "L3", 16) == 0xfff);
}

TEST_CASE("an enabled class has a group with its part of each cache and of the bandwidth, and its pods are in it") {
  ResctrlFixture fixture;
  fixture.strategy.be = part(0, 30, 85);
  fixture.add_pod("u1", KOORD_QOS_BE);
  fixture.add_pod("u2", KOORD_QOS_LS);
  const Plan plan = ::plan(fixture.inputs);
  CHECK(texts(plan) ==
        Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.mb koord-BE 0=90;1=90", "resctrl.group pod-u1 koord-BE"});
  CHECK(plan.intents[0].level == KOORD_LEVEL_NODE);
  CHECK(plan.intents[2].level == KOORD_LEVEL_POD);
  CHECK(plan.intents[1].reason == "beClass of the NodeSLO gives its threads a share of the memory bandwidth");
  CHECK(plan.intents[1].inputs == koord::strategy::Inputs{{"percent", "85"}});
  CHECK(plan.problems.empty());
}

TEST_CASE("a class that is off has no group, and LSE uses the group of LSR") {
  ResctrlFixture fixture;
  fixture.strategy.be = part(0, 30, 50, false);
  fixture.strategy.lsr = part(0, 100, 100);
  fixture.add_pod("u1", KOORD_QOS_BE);
  fixture.add_pod("u2", KOORD_QOS_LSE);
  fixture.add_pod("u3", KOORD_QOS_SYSTEM);
  CHECK(texts(::plan(fixture.inputs)) == Texts{"resctrl.l3 koord-LSR 0=7ff;1=7ff", "resctrl.mb koord-LSR 0=100;1=100",
                                               "resctrl.group pod-u2 koord-LSR"});
}

TEST_CASE("a pod's annotation gives it its own group, with shares by cache if given") {
  ResctrlFixture fixture;
  fixture.strategy.be = part(0, 30, 100);
  koord::slo::PodResctrl own = own_range(0, 50);
  own.l3_of_cache[1] = {50, 100};
  own.mb_of_cache[0] = 40;
  fixture.add_pod("u1", KOORD_QOS_BE, own);
  fixture.add_pod("u2", KOORD_QOS_BE);
  CHECK(texts(::plan(fixture.inputs)) == Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.mb koord-BE 0=100;1=100",
                                               "resctrl.l3 koord-pod-u1 0=3f;1=7c0", "resctrl.mb koord-pod-u1 0=40",
                                               "resctrl.group pod-u1 koord-pod-u1", "resctrl.group pod-u2 koord-BE"});
}

TEST_CASE(
    "a pod with a uid that is invalid in a group name gets no own group and is reported; it uses its class's group") {
  using namespace std::string_literals;
  for (const std::string& uid : {""s, "a/b"s, "a\nb"s, "a\0b"s, std::string(246, 'a')}) {
    CAPTURE(uid);
    ResctrlFixture fixture;
    fixture.strategy.be = part(0, 30, 100);
    fixture.inputs.pods.push_back({uid, "shop/odd", "pod-odd", KOORD_QOS_BE, own_range(0, 50)});
    fixture.add_pod("u2", KOORD_QOS_BE, own_range(0, 50));
    const Plan plan = ::plan(fixture.inputs);
    CHECK(texts(plan) == Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.mb koord-BE 0=100;1=100",
                               "resctrl.l3 koord-pod-u2 0=3f;1=3f", "resctrl.group pod-odd koord-BE",
                               "resctrl.group pod-u2 koord-pod-u2"});
    CHECK(plan.problems ==
          Texts{"the annotation of pod shop/odd: metadata.uid: expected 1 to 245 bytes without '/', newline and NUL, "
                "so the pod gets no group of its own"});
  }
  ResctrlFixture longest;
  longest.add_pod(std::string(245, 'a').c_str(), KOORD_QOS_BE, own_range(0, 50));
  CHECK(::plan(longest.inputs).intents.size() == 2);
}

TEST_CASE(
    "the CPU's groups are assigned to restricting classes, then to pods that have one, then to others; the rest is reported") {
  ResctrlFixture fixture;
  fixture.hardware.closids = 4;
  fixture.inputs.groups = {"crio-high", "koord-pod-u2", "koord-pod-gone"};
  fixture.strategy.ls = part(0, 100, 100);
  fixture.strategy.be = part(0, 30, 100);
  fixture.add_pod("u1", KOORD_QOS_BE, own_range(0, 20));
  fixture.add_pod("u2", KOORD_QOS_BE, own_range(0, 20));
  const Plan plan = ::plan(fixture.inputs);
  CHECK(texts(plan) == Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.mb koord-BE 0=100;1=100",
                             "resctrl.l3 koord-LS 0=7ff;1=7ff", "resctrl.mb koord-LS 0=100;1=100",
                             "resctrl.group pod-u1 koord-BE", "resctrl.group pod-u2 koord-BE"});
  CHECK(plan.problems.size() == 2);
  CHECK(
      plan.problems[0] ==
      "the annotation of pod shop/u2: no group is left for it: the CPU has 4 CLOSIDs, 2 are the kernel's and others', "
      "the rest is given to other classes and pods");
  fixture.hardware.closids = 5;
  CHECK(texts(::plan(fixture.inputs)).back() == "resctrl.group pod-u2 koord-pod-u2");
}

TEST_CASE("features that this CPU lacks are reported for classes that request them, and the rest is applied") {
  ResctrlFixture fixture;
  fixture.strategy.be = part(0, 30, 50);
  fixture.strategy.lsr = part(0, 100, 100);
  fixture.hardware.bandwidth.reset();
  Plan plan = ::plan(fixture.inputs);
  CHECK(texts(plan) == Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.l3 koord-LSR 0=7ff;1=7ff"});
  CHECK(plan.problems == Texts{"beClass of the NodeSLO: this CPU cannot share out memory bandwidth"});
  fixture.hardware.l3.reset();
  plan = ::plan(fixture.inputs);
  CHECK(plan.intents.empty());
  CHECK(plan.problems.size() == 2);
}

TEST_CASE("MiB/s are proposed once the whole bandwidth is known, and no limit has no number") {
  ResctrlFixture fixture;
  fixture.hardware.bandwidth->unit = BandwidthUnit::megabytes;
  fixture.hardware.bandwidth->step = fixture.hardware.bandwidth->least = 1;
  fixture.hardware.bandwidth->unlimited = 4294967295;
  fixture.strategy.be = part(0, 30, 50);
  fixture.strategy.ls = part(0, 100, 100);
  Plan plan = ::plan(fixture.inputs);
  CHECK(texts(plan) == Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.l3 koord-LS 0=7ff;1=7ff"});
  CHECK(
      plan.problems ==
      Texts{
          "beClass of the NodeSLO: resctrl is mounted with mba_MBps, and the setting domainMegabytes does not say what 100 % is"});
  fixture.inputs.settings.domain_megabytes = 30000;
  CHECK(texts(::plan(fixture.inputs)) ==
        Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.mb koord-BE 0=15000;1=15000", "resctrl.l3 koord-LS 0=7ff;1=7ff"});
}

TEST_CASE(
    "a class with an empty range is inactive including its bandwidth; a missing cache is reported, other values apply") {
  ResctrlFixture fixture;
  fixture.strategy.be = part(30, 30, 50);
  koord::slo::PodResctrl own = own_range(0, 50);
  own.mb_of_cache[7] = 50;
  fixture.add_pod("u1", KOORD_QOS_LS, own);
  const Plan plan = ::plan(fixture.inputs);
  CHECK(texts(plan) == Texts{"resctrl.l3 koord-pod-u1 0=3f;1=3f", "resctrl.group pod-u1 koord-pod-u1"});
  CHECK(
      plan.problems ==
      Texts{
          "beClass of the NodeSLO: catRangeStartPercent 30 is not below catRangeEndPercent 30, so its resctrlQOS is inactive",
          "the annotation of pod shop/u1: there is no cache 7"});
}

TEST_CASE("a group of the agent without an intent for a minute is removed, other groups stay") {
  StaleGroups stale;
  const std::vector<std::string> groups{"BE", "koord-BE", "koord-pod-gone"};
  Intent intent;
  intent.level = KOORD_LEVEL_NODE, intent.knob = "resctrl.l3", intent.cgroup_dir = "koord-BE";
  constexpr std::uint64_t kStart = 5;
  CHECK(stale.update(groups, {intent}, kStart).empty());
  CHECK(stale.update(groups, {intent}, kStart + StaleGroups::kStaleAfterNs - 1).empty());
  CHECK(stale.update(groups, {intent}, kStart + StaleGroups::kStaleAfterNs) == std::set<std::string>{"koord-pod-gone"});
  CHECK(stale.update({"BE"}, {}, kStart + StaleGroups::kStaleAfterNs + 1).empty());
  CHECK(stale.update(groups, {intent}, kStart + StaleGroups::kStaleAfterNs + 2).empty());
}

TEST_CASE("a stale group is removed unless it is proposed again in this round") {
  ResctrlFixture fixture;
  fixture.inputs.stale = {"koord-BE", "koord-pod-gone"};
  fixture.strategy.be = part(0, 30, 100);
  CHECK(texts(::plan(fixture.inputs)) ==
        Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.mb koord-BE 0=100;1=100", "resctrl.remove koord-pod-gone 1"});
}
