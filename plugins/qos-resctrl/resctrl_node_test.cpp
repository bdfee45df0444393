// SPDX-License-Identifier: Apache-2.0
// Tests of the hardware found in a node's files, and of the plugin on the host's services.
#include <doctest/doctest.h>

#include "plugins/qos-resctrl/hardware.hpp"
#include "plugins/qos-resctrl/resctrl_tree.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/node_slo.hpp"

using namespace koord::rdt;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

namespace {

using Texts = std::vector<std::string>;

// Creates files like on a machine with two sockets with caches of 11 parts; each file has the kernel's newline and
// spaces.
void make_resctrl(FakeNode& node) {
  node.write("proc/filesystems", "nodev\tsysfs\nnodev\tresctrl\n");
  node.write("proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu cat_l3 mba\n");
  node.write("proc/1/mounts", "resctrl /sys/fs/resctrl resctrl rw,relatime 0 0\n");
  node.write("resctrl/schemata", "    MB:0=100;1=100\n    L3:0=7ff;1=7ff\n");
  node.write("resctrl/info/L3/cbm_mask", "7ff\n");
  node.write("resctrl/info/L3/min_cbm_bits", "1\n");
  node.write("resctrl/info/L3/num_closids", "16\n");
  node.write("resctrl/info/MB/bandwidth_gran", "10\n");
  node.write("resctrl/info/MB/min_bandwidth", "10\n");
  node.write("resctrl/info/MB/num_closids", "8\n");
}

// The plugin on the host's services.
struct Node {
  explicit Node(std::string config = "{}") : config_(std::move(config)) { make_resctrl(node); }

  FakeNode node;
  std::string config_;
  FakeHost host{node, config_};
  FakeInstance strategy{host, koord_entry_v1()};

  void publish(const std::string& slo, const std::string& annotation = "", const std::string& uid = "u1") {
    koord::state::Pod pod;
    pod.uid = uid, pod.namespace_ = "shop", pod.name = "cart";
    pod.phase = koord::state::Phase::running;
    pod.koord_qos = koord::state::KoordQos::be;
    pod.cgroup_dir = "kubepods/besteffort/podu1";
    if (!annotation.empty()) pod.annotations["node.koordinator.sh/resctrl"] = annotation;
    host.hub().publish({.pods = std::vector{pod}, .node_slo = slo});
  }
  Texts proposed() {
    REQUIRE(strategy.evaluate() == KOORD_OK);
    Texts texts;
    for (const koord::knob::Intent& intent : host.context().take_plan())
      texts.push_back(std::string(intent.knob->name) + " " + intent.cgroup_dir + " " + intent.value);
    return texts;
  }
};

constexpr const char* kSlo =
    R"({"resourceQOSStrategy": {"beClass": {"resctrlQOS": {"enable": true, "catRangeStartPercent": 0, "catRangeEndPercent": 30, "mbaPercent": 50}}}})";

}  // namespace

TEST_CASE("hardware is read from the mounted tree, and the number of groups is the lowest of any resource") {
  FakeNode node;
  make_resctrl(node);
  const auto hardware = read_hardware(node.roots());
  REQUIRE(hardware);
  CHECK(hardware->closids == 8);
  CHECK(hardware->l3 == Cache{.mask = 0x7ff, .least_bits = 1, .takes_gaps = false, .ids = {0, 1}});
  CHECK(hardware->bandwidth ==
        Bandwidth{.unit = BandwidthUnit::percent, .least = 10, .step = 10, .unlimited = 100, .ids = {0, 1}});
}

TEST_CASE("the unit of bandwidth follows from the CPU's vendor and from the mount options of resctrl") {
  FakeNode node;
  make_resctrl(node);
  node.write("proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  node.write("resctrl/schemata", "    MB:0=4096\n    L3:0=ffff\n");
  CHECK(read_hardware(node.roots())->bandwidth->unit == BandwidthUnit::eighths);
  CHECK(read_hardware(node.roots())->bandwidth->unlimited == 4096);
  node.write("proc/1/mounts", "resctrl /sys/fs/resctrl resctrl rw,relatime,mba_MBps 0 0\n");
  CHECK(read_hardware(node.roots())->bandwidth->unit == BandwidthUnit::megabytes);
}

TEST_CASE("a CPU that can divide only one of cache and bandwidth is used for that one") {
  FakeNode node;
  make_resctrl(node);
  node.write("resctrl/schemata", "    MB:0=100\n");
  CHECK_FALSE(read_hardware(node.roots())->l3);
  node.write("resctrl/schemata", "    L3:0=7ff\n");
  CHECK_FALSE(read_hardware(node.roots())->bandwidth);
  CHECK(read_hardware(node.roots())->closids == 16);
  node.write("resctrl/schemata", "    L2:0=ff\n");
  CHECK(read_hardware(node.roots())
            .error()
            .text.starts_with("the CPU can share out neither its L3 cache nor memory bandwidth"));
}

TEST_CASE("the error distinguishes resctrl that is missing, not mounted, or mounted with cdp") {
  FakeNode node;
  node.write("proc/filesystems", "nodev\tsysfs\n");
  CHECK(read_hardware(node.roots()).error().text.starts_with("no resource control"));
  node.write("proc/filesystems", "nodev\tresctrl\n");
  CHECK(read_hardware(node.roots()).error().text.starts_with("resctrl is not mounted at "));
  make_resctrl(node);
  node.write("resctrl/info/L3CODE/cbm_mask", "7ff\n");
  CHECK(read_hardware(node.roots()).error().text.starts_with("resctrl is mounted with cdp"));
}

TEST_CASE("the plugin proposes groups for the NodeSLO's classes and for pods that request one") {
  Node node;
  REQUIRE(node.strategy.init() == KOORD_OK);
  CHECK(node.proposed().empty());
  node.publish(kSlo);
  CHECK(node.proposed() == Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.mb koord-BE 0=50;1=50",
                                 "resctrl.group kubepods/besteffort/podu1 koord-BE"});
  node.publish(kSlo, R"({"llc": {"schemata": {"range": [0, 50]}}})");
  CHECK(node.proposed() == Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.mb koord-BE 0=50;1=50",
                                 "resctrl.l3 koord-pod-u1 0=3f;1=3f",
                                 "resctrl.group kubepods/besteffort/podu1 koord-pod-u1"});
}

TEST_CASE("the plugin proposes nothing for a class with an invalid section, nor for a pod with an invalid annotation") {
  Node node;
  REQUIRE(node.strategy.init() == KOORD_OK);
  const std::string slo = koord::test::node_slo_of(
      R"({"resourceQOSStrategy": {"beClass": {"resctrlQOS": {"enable": true, "catRangeStartPercent": 30, "catRangeEndPercent": 30}}}})");
  node.publish(slo);
  CHECK(node.proposed().empty());
  node.publish(kSlo, R"({"llc": {"schemata": {"range": [30, 30]}}, "mb": {"schemata": {"percent": 40}}})");
  CHECK(node.proposed() == Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.mb koord-BE 0=50;1=50",
                                 "resctrl.group kubepods/besteffort/podu1 koord-BE"});
}

TEST_CASE("the host accepts the plugin's plan whatever uid a pod with an annotation has") {
  Node node;
  REQUIRE(node.strategy.init() == KOORD_OK);
  for (const std::string& uid : {std::string("a\nb"), std::string("a\0b", 3), std::string(246, 'a')}) {
    CAPTURE(uid);
    node.publish(kSlo, R"({"llc": {"schemata": {"range": [0, 50]}}})", uid);
    CHECK(node.proposed() == Texts{"resctrl.l3 koord-BE 0=f;1=f", "resctrl.mb koord-BE 0=50;1=50",
                                   "resctrl.group kubepods/besteffort/podu1 koord-BE"});
  }
}

TEST_CASE("the plugin reports the CPU's features as capabilities") {
  Node node;
  node.node.write("resctrl/schemata", "    L3:0=7ff;1=7ff\n");
  REQUIRE(node.strategy.init() == KOORD_OK);
  CHECK(node.host.capabilities().find("resctrl_l3")->detail == "2 caches, mask 7ff, 16 CLOSIDs");
  CHECK(node.host.capabilities().find("resctrl_mb")->state == koord::service::CapabilityState::absent);
}

TEST_CASE("on a node without resctrl the plugin is absent with the reason") {
  Node node;
  node.node.remove("resctrl");
  CHECK(node.strategy.init() == KOORD_E_UNSUPPORTED);
  CHECK(node.strategy.why().starts_with("resctrl is not mounted at "));
}

TEST_CASE("on AMD a setting defines the whole bandwidth") {
  Node node(R"({"amdDomainGBps": 40})");
  node.node.write("proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  node.node.write("resctrl/info/MB/bandwidth_gran", "1\n");
  node.node.write("resctrl/info/MB/min_bandwidth", "1\n");
  REQUIRE(node.strategy.init() == KOORD_OK);
  node.publish(kSlo);
  CHECK(node.proposed()[1] == "resctrl.mb koord-BE 0=160;1=160");
}

TEST_CASE("the plugin requests the removal of an earlier session's groups") {
  Node node;
  REQUIRE(node.strategy.init() == KOORD_OK);
  node.node.write("resctrl/koord-pod-gone/schemata", "L3:0=f;1=f\n");
  node.publish(R"({"resourceQOSStrategy": {}})");
  CHECK(node.proposed().empty());
  node.host.clock().advance(std::chrono::seconds(61));
  CHECK(node.proposed() == Texts{"resctrl.remove koord-pod-gone 1"});
}
