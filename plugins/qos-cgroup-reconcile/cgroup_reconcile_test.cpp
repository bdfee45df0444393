// SPDX-License-Identifier: Apache-2.0
// Tests of the plugin on the host's real services and a fake node.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "test/support/fake_host.hpp"

using namespace koord;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

constexpr const char* kPodDir = "kubepods/burstable/podu1";
constexpr const char* kContainerDir = "kubepods/burstable/podu1/c1";

// A cgroup v2 node with one burstable pod: memory request 100 MiB, limit 200 MiB.
struct CgroupReconcileFixture {
  explicit CgroupReconcileFixture(const std::string& memory_qos) {
    set(kContainerDir, "memory.current", "104857600\n");
    stalled(0);
    state::Pod pod;
    pod.uid = pod.name = "u1";
    pod.namespace_ = "shop";
    pod.kube_qos = state::KubeQos::burstable;
    pod.koord_qos = state::KoordQos::ls;
    pod.phase = state::Phase::running;
    pod.cgroup_dir = kPodDir;
    pod.resources = {{"memory", 100 << 20, 200 << 20}};
    pod.containers.push_back({.id = "containerd://c1",
                              .name = "main",
                              .cgroup_dir = kContainerDir,
                              .resources = {{"memory", 100 << 20, 200 << 20}}});
    host.hub().publish({.pods = std::vector{pod},
                        .node_slo = R"({"resourceQOSStrategy":{"lsClass":{"memoryQOS":)" + memory_qos + "}}}"});
    REQUIRE(strategy.init() == KOORD_OK);
  }
  void set(const std::string& dir, const std::string& file, const std::string& text) {
    node.write("cgroup/" + dir + "/" + file, text);
  }
  void stalled(std::int64_t total_us) {
    set(kContainerDir, "memory.pressure",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + std::to_string(total_us) +
            "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  }
  // Evaluates and returns the proposed value of the knob of the cgroup, or "" without a proposal.
  std::string proposed(const std::string& knob, const std::string& dir) {
    host.clock().advance(10s);
    REQUIRE(strategy.evaluate() == KOORD_OK);
    const knob::Plan plan = host.context().take_plan();
    const auto found = std::find_if(plan.begin(), plan.end(),
                                    [&](const knob::Intent& i) { return i.knob->name == knob && i.cgroup_dir == dir; });
    if (found == plan.end()) return "";
    reason = found->reason;
    return found->value;
  }

  FakeNode node = FakeNode({{"cgroup/cgroup.controllers", "cpu memory io\n"}});
  FakeHost host{node};
  FakeInstance strategy{host, koord_entry_v1()};
  std::string reason;
};

}  // namespace

TEST_CASE("a protected class: the pod's memory.min and the sum above it are proposed") {
  CgroupReconcileFixture fixture(R"({"enable":true,"minLimitPercent":50})");
  CHECK(fixture.proposed("memory.min", kPodDir) == "52428800");
  CHECK(fixture.proposed("memory.min", "kubepods/burstable") == "52428800");
  CHECK(fixture.proposed("memory.min", "kubepods") == "52428800");
}

TEST_CASE("memory.high follows the container's usage and its stalls") {
  CgroupReconcileFixture fixture(R"({"enable":true,"throttlingPercent":50})");
  CHECK(fixture.proposed("memory.high", kContainerDir) == "157286400");
  CHECK(fixture.reason ==
        "50 % of the way from its memory request to its limit, by lsClass.memoryQOS.throttlingPercent");
  fixture.set(kContainerDir, "memory.current", "157286400\n");
  fixture.stalled(2'500'000);
  CHECK(fixture.proposed("memory.high", kContainerDir) == "173015040");
  CHECK(fixture.reason ==
        "above 157286400, which was too little: its tasks stalled for lack of memory more than 10.0 % "
        "of the time");
}

TEST_CASE("a pod that is known only by its cgroup has no memory.high: its limit is unknown and not the node's memory") {
  CgroupReconcileFixture fixture(R"({"enable":true,"throttlingPercent":50,"priority":3})");
  std::vector<state::Pod> found = fixture.host.hub().current()->pods;  // the pods in the form in which the state source
                                                                       // "cgroup" reports them
  found[0].name = found[0].uid;
  found[0].namespace_.clear();
  found[0].resources.clear();
  found[0].containers[0].resources.clear();
  state::Node node;
  node.allocatable = node.capacity = {{"memory", std::int64_t{8} << 30}};
  fixture.host.hub().publish({.node = node, .pods = found});
  CHECK(fixture.proposed("memory.high", kContainerDir) == "");
  CHECK(fixture.proposed("memory.priority", kPodDir) == "3");
}

TEST_CASE("a container without memory.current has no memory.high") {
  CgroupReconcileFixture fixture(R"({"enable":true,"throttlingPercent":50})");
  fixture.node.remove("cgroup/" + std::string(kContainerDir) + "/memory.current");
  CHECK(fixture.proposed("memory.high", kContainerDir) == "");
}

TEST_CASE("switching a class off withdraws all its intents") {
  CgroupReconcileFixture fixture(R"({"enable":true,"minLimitPercent":50,"throttlingPercent":50})");
  CHECK(fixture.proposed("memory.min", kPodDir) != "");
  fixture.host.hub().publish({.node_slo = R"({"resourceQOSStrategy":{"lsClass":{"memoryQOS":{"enable":false}}}})"});
  CHECK(fixture.proposed("memory.min", kPodDir) == "");
  CHECK(fixture.proposed("memory.high", kContainerDir) == "");
}

TEST_CASE("if no pressure can be read, the capability is absent") {
  CgroupReconcileFixture fixture(R"({"enable":true,"throttlingPercent":50})");
  fixture.node.remove("cgroup/" + std::string(kContainerDir) + "/memory.pressure");
  CHECK(fixture.proposed("memory.high", kContainerDir) == "157286400");
  const auto found = fixture.host.capabilities().find("memory_high_watchdog");
  REQUIRE(found);
  CHECK(found->state == service::CapabilityState::absent);
}

TEST_CASE("a knob that this kernel lacks is not proposed again for ten minutes, but other knobs are") {
  CgroupReconcileFixture fixture(R"({"enable":true,"minLimitPercent":50,"throttlingPercent":50})");
  CHECK(fixture.proposed("memory.min", kPodDir) != "");
  REQUIRE(fixture.strategy.on_applied({{decision::Outcome::unsupported, "memory.min", kPodDir, "", ""},
                                       {decision::Outcome::applied, "memory.high", kContainerDir, "157286400",
                                        "qos-cgroup-reconcile"}}) == KOORD_OK);
  CHECK(fixture.proposed("memory.min", kPodDir) == "");
  CHECK(fixture.proposed("memory.high", kContainerDir) != "");
  fixture.host.clock().advance(10min);
  CHECK(fixture.proposed("memory.min", kPodDir) != "");
}
