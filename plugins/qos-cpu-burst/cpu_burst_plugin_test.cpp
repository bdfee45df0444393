// SPDX-License-Identifier: Apache-2.0
// Tests of the plugin on the host's real services and a fake node.
#include <doctest/doctest.h>

#include <map>

#include "plugins/qos-cpu-burst/burst_pods.hpp"
#include "test/support/fake_samples.hpp"
#include "test/support/node_slo.hpp"

using namespace koord::cpu_burst;
using koord::slo::BurstPolicy;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using koord::test::FakeSamples;
namespace state = koord::state;

namespace {

const koord::slo::CpuBurst kNodeSettings{BurstPolicy::automatic, 1000, 300, -1, 50};
constexpr const char* kPodDir = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu1.slice";
const std::string kContainerDir = std::string(kPodDir) + "/cri-containerd-c1.scope";

state::Pod state_pod() {
  state::Pod pod;
  pod.uid = "u1";
  pod.namespace_ = "shop";
  pod.name = "cart";
  pod.kube_qos = state::KubeQos::burstable;
  pod.koord_qos = state::KoordQos::ls;
  pod.phase = state::Phase::running;
  pod.cgroup_dir = kPodDir;
  pod.resources = {{"cpu", 1000, 2000}};
  state::Container container;
  container.id = "containerd://c1";
  container.name = "web";
  container.state = state::ContainerState::running;
  container.cgroup_dir = kContainerDir;
  container.resources = {{"cpu", 1000, 2000}};
  pod.containers = {container};
  return pod;
}

FakeNode v2_node() {
  return FakeNode({{"cgroup/cgroup.controllers", "cpu\n"},
                   {std::string("cgroup/") + kPodDir + "/cpu.max", "200000 100000\n"},
                   {"cgroup/" + kContainerDir + "/cpu.max", "200000 100000\n"}});
}

state::Topology eight_cpus() {
  state::Topology topology;
  for (int cpu = 0; cpu < 8; ++cpu) topology.cpus.push_back({.cpu = cpu, .online = true});
  return topology;
}

constexpr const char* kAuto =
    R"({"cpuBurstStrategy": {"policy": "auto", "cpuBurstPercent": 1000, "cfsQuotaBurstPercent": 300,
  "cfsQuotaBurstPeriodSeconds": -1, "sharePoolThresholdPercent": 50}})";

std::map<std::string, std::string> proposed(FakeHost& host) {
  std::map<std::string, std::string> values;
  for (const koord::knob::Intent& intent : host.context().take_plan())
    values[std::string(intent.knob->name) + (intent.cgroup_dir == kPodDir ? " of the pod" : " of the container")] =
        intent.value;
  return values;
}

using Values = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("the plugin raises the quota of a throttled container while the shared CPUs are idle") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  host.hub().publish({.pods = std::vector{state_pod()}, .node_slo = kAuto, .topology = eight_cpus()});
  FakeSamples samples(host);
  const std::uint64_t handle = host.hub().current()->pods[0].containers[0].handle;
  FakeInstance strategy(host, koord_entry_v1());
  REQUIRE(strategy.init() == KOORD_OK);
  samples.add("node_cpu_usage", 2.5);
  samples.add("container_cpu_throttled", 0.4, handle);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(proposed(host) == Values{{"cpu.max.burst of the container", "200000"},
                                 {"cpu.max.burst of the pod", "200000"},
                                 {"cpu.max of the container", "1.2"},
                                 {"cpu.max of the pod", "1.2"}});
  CHECK(host.value("container_scaled_cfs_quota_us", {{"container_name", "web"}}) == 240'000.0);
  CHECK(host.value("container_scaled_cfs_burst_us", {{"pod_name", "cart"}}) == 200'000.0);
  host.hub().publish({.node_slo = R"({"cpuBurstStrategy": {"policy": "none"}})"});
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(proposed(host).empty());
  CHECK(host.series("container_scaled_cfs_quota_us").empty());
}

TEST_CASE("the plugin never uses a cgroup's value: a quota that an earlier session left raised is no base") {
  const FakeNode node = FakeNode({{"cgroup/cgroup.controllers", "cpu\n"},
                                  {std::string("cgroup/") + kPodDir + "/cpu.max", "600000 100000\n"},
                                  {"cgroup/" + kContainerDir + "/cpu.max", "600000 100000\n"}});
  FakeHost host(node);
  host.hub().publish({.pods = std::vector{state_pod()}, .node_slo = kAuto, .topology = eight_cpus()});
  FakeSamples samples(host);
  FakeInstance strategy(host, koord_entry_v1());
  REQUIRE(strategy.init() == KOORD_OK);
  samples.add("node_cpu_usage", 2.5);
  samples.add("container_cpu_throttled", 0.4, host.hub().current()->pods[0].containers[0].handle);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  std::size_t scales = 0;
  for (const koord::knob::Intent& intent : host.context().take_plan()) {
    if (intent.knob->name != "cpu.max") continue;
    CHECK(intent.role == koord::decision::Role::scale);
    CHECK(intent.value == "1.2");
    ++scales;
  }
  CHECK(scales == 2);
}

TEST_CASE("the plugin does nothing while a value of the NodeSLO is invalid, whatever a pod's annotation contains") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  state::Pod pod = state_pod();
  pod.annotations = {{"koordinator.sh/cpuBurst", R"({"policy": "auto", "cfsQuotaBurstPercent": 200})"}};
  const std::string slo =
      koord::test::node_slo_of(R"({"cpuBurstStrategy": {"policy": "auto", "cfsQuotaBurstPercent": 90}})");
  host.hub().publish({.pods = std::vector{pod}, .node_slo = slo, .topology = eight_cpus()});
  FakeSamples samples(host);
  FakeInstance strategy(host, koord_entry_v1());
  REQUIRE(strategy.init() == KOORD_OK);
  samples.add("node_cpu_usage", 2.5);
  samples.add("container_cpu_throttled", 0.4, host.hub().current()->pods[0].containers[0].handle);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(proposed(host).empty());
}

TEST_CASE("a pod with an unknown policy in its annotation does not burst, but other pods do") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  state::Pod pod = state_pod();
  pod.annotations = {{"koordinator.sh/cpuBurst", R"({"policy": "nonsense"})"}};
  host.hub().publish({.pods = std::vector{pod}, .node_slo = kAuto});
  const koord::plugin::Snapshot snapshot(host.abi(), host.service<koord_svc_state>("koord.state/1"));
  const auto taken = snapshot_of(snapshot.pods(), kNodeSettings);
  REQUIRE(taken.pods.size() == 1);
  CHECK(taken.pods[0].settings.policy == BurstPolicy::none);
  CHECK(taken.problems.size() == 1);
}

TEST_CASE("the plugin lets a pod's annotation replace the node's strategy, and proposes nothing without a NodeSLO") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  state::Pod pod = state_pod();
  pod.annotations = {{"koordinator.sh/cpuBurst", R"({"policy": "cpuBurstOnly", "cpuBurstPercent": 50})"}};
  host.hub().publish({.pods = std::vector{pod}, .topology = eight_cpus()});
  FakeSamples samples(host);
  FakeInstance strategy(host, koord_entry_v1());
  REQUIRE(strategy.init() == KOORD_OK);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(proposed(host).empty());
  host.hub().publish({.node_slo = kAuto});
  samples.add("container_cpu_throttled", 0.4, host.hub().current()->pods[0].containers[0].handle);
  REQUIRE(strategy.evaluate() == KOORD_OK);
  CHECK(proposed(host) == Values{{"cpu.max.burst of the container", "100000"}, {"cpu.max.burst of the pod", "100000"}});
}

TEST_CASE("pods of LSE, LSR and BE do not burst, and their usage and CPUs are not part of the shared pool") {
  struct Row {
    std::string label;
    std::size_t bursts, outside;
    double cores;
  };
  for (const Row& row : {Row{"LSE", 0, 1, 1}, Row{"LSR", 0, 1, 1}, Row{"BE", 0, 1, 0}, Row{"LS", 1, 0, 0},
                         Row{"SYSTEM", 1, 0, 0}, Row{"", 1, 0, 0}}) {
    CAPTURE(row.label);
    const FakeNode node = v2_node();
    FakeHost host(node);
    state::Pod pod = state_pod();
    if (!row.label.empty()) pod.labels = {{"koordinator.sh/qosClass", row.label}};
    pod.koord_qos = row.label == "BE" ? state::KoordQos::be : state::KoordQos::ls;
    host.hub().publish({.pods = std::vector{pod}});
    const koord::plugin::Snapshot snapshot(host.abi(), host.service<koord_svc_state>("koord.state/1"));
    const auto taken = snapshot_of(snapshot.pods(), kNodeSettings);
    CHECK(taken.pods.size() == row.bursts);
    CHECK(taken.outside.size() == row.outside);
    CHECK(taken.exclusive_cores == row.cores);
  }
}
