// SPDX-License-Identifier: Apache-2.0
// Tests of the plugin on the host's real services and a fake node.
#include <doctest/doctest.h>

#include "koordetector/plugin.hpp"
#include "test/support/fake_host.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* kClass = "kubepods/besteffort";

state::Pod pod_of(const std::string& uid, state::KoordQos qos, state::KubeQos kube_qos, const std::string& dir) {
  state::Pod pod;
  pod.uid = pod.name = uid;
  pod.namespace_ = "default";
  pod.koord_qos = qos;
  pod.kube_qos = kube_qos;
  pod.phase = state::Phase::running;
  pod.cgroup_dir = dir;
  for (const char* name : {"main", "side"}) {
    state::Container container;
    container.id = "containerd://" + uid + name;
    container.name = name;
    container.cgroup_dir = dir + "/" + name;
    container.state = state::ContainerState::running;
    pod.containers.push_back(container);
  }
  pod.containers[1].kind = state::ContainerKind::sandbox;
  return pod;
}

std::string slo_of(const std::string& policy, bool enable = true) {
  return R"({"resourceUsedThresholdWithBE":{"enable":)" + std::string(enable ? "true" : "false") +
         R"(,"cpuSuppressThresholdPercent":65,"cpuSuppressPolicy":")" + policy + R"("}})";
}

// Eight CPUs; a service uses 4.2 of them, batch work 2, and the system 0.3.
struct CpuSuppressFixture {
  explicit CpuSuppressFixture(std::string config = "{}")
      : host(node, std::move(config)), strategy(host, koord_entry_v1()) {
    for (int cpu = 0; cpu < 8; ++cpu)
      topology.cpus.push_back({.cpu = cpu, .core = cpu / 2, .socket = cpu / 4, .numa_node = cpu / 4, .online = true});
    publish();
    node_slo(slo_of("cpuset"));
    REQUIRE(strategy.init() == KOORD_OK);
  }

  void publish() { host.hub().publish({.pods = pods, .topology = topology}); }
  void node_slo(const std::string& spec) { host.hub().publish({.node_slo = spec}); }
  void about_node(state::Node about) { host.hub().publish({.node = std::move(about)}); }

  std::uint64_t handle(const std::string& uid) {
    const auto now = host.hub().current();
    for (const state::Pod& pod : now->pods)
      if (pod.uid == uid) return pod.handle;
    return 0;
  }
  void send(const char* name, double value, std::uint64_t subject = KOORD_NO_SUBJECT,
            std::initializer_list<plugin::Label> labels = {}) {
    plugin::Batch batch(host.abi());
    batch.add(plugin::Metric(host.abi(), {name, "", "", 0.01}).series(subject, labels), value);
    batch.send(to_ns(host.clock().now()));
  }
  void measure() {
    send("node_cpu_usage", 6.5);
    send("pod_cpu_usage", 4.2, handle("service"));
    send("pod_cpu_usage", 2.0, handle("batch"));
  }

  // Advances one second and evaluates with new measurements.
  koord_status round() {
    host.clock().advance(1s);
    measure();
    return strategy.evaluate();
  }
  knob::Plan plan() {
    REQUIRE(round() == KOORD_OK);
    return host.context().take_plan();
  }
  std::string value() {
    const knob::Plan intents = plan();
    return intents.empty() ? "none" : intents[0].value;
  }

  FakeNode node{{{"cgroup/cgroup.controllers", "cpuset cpu memory\n"}}};
  FakeHost host;
  FakeInstance strategy;
  state::Topology topology;
  std::vector<state::Pod> pods{
      pod_of("service", state::KoordQos::ls, state::KubeQos::burstable, "kubepods/burstable/podservice"),
      pod_of("batch", state::KoordQos::be, state::KubeQos::best_effort, "kubepods/besteffort/podbatch")};
};

}  // namespace

TEST_CASE("best-effort pods get what the threshold leaves, as an intent for their class") {
  CpuSuppressFixture fixture;
  const knob::Plan plan = fixture.plan();
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].level == decision::Level::qos);
  CHECK(plan[0].cgroup_dir == kClass);
  CHECK(plan[0].knob->name == "cpuset.cpus");
  CHECK(plan[0].value == "0-1");  // 5.2 − 4.2 − 0.3 is less than one CPU; the minimum is two
  CHECK(plan[0].ttl == 15s);
  CHECK(plan[0].reason.find("4.50 cores") != std::string::npos);
  CHECK(fixture.host.value("be_suppress_cpu_cores", {{"type", "cpuset"}}) == 2.0);
  CHECK(fixture.host.value("be_suppress_ls_used_cpu_cores") == doctest::Approx(4.2));
}

TEST_CASE("on cgroup v1 each container is confined, but no sandbox") {
  CpuSuppressFixture fixture;
  fixture.node.remove("cgroup/cgroup.controllers");
  fixture.node.make_directory("cgroup/cpuset");
  const knob::Plan plan = fixture.plan();
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].level == decision::Level::container);
  CHECK(plan[0].cgroup_dir == "kubepods/besteffort/podbatch/main");
}

TEST_CASE("the NodeSLO selects the policy, and the configuration may override it") {
  CpuSuppressFixture fixture;
  fixture.node_slo(slo_of("cfsQuota"));
  CHECK(fixture.value() == "70000 100000");
  CpuSuppressFixture configured(R"({"policy":"cpuIdle"})");
  const knob::Plan plan = configured.plan();
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].knob->name == "cpu.idle");
}

TEST_CASE("if switched off in the NodeSLO there is no intent") {
  CpuSuppressFixture fixture;
  fixture.plan();
  fixture.node_slo(slo_of("cpuset", false));
  CHECK(fixture.plan().empty());
  CHECK_FALSE(fixture.host.value("be_suppress_cpu_cores", {{"type", "cpuset"}}));
}

TEST_CASE("an unknown cpuSuppressPolicy proposes nothing, and no default is used instead") {
  CpuSuppressFixture fixture;
  REQUIRE(fixture.value() != "none");
  fixture.node_slo(slo_of("Bogus"));
  CHECK(fixture.plan().empty());
  CHECK_FALSE(fixture.host.value("be_suppress_cpu_cores", {{"type", "cpuset"}}));
  fixture.node_slo(slo_of("cfsQuota"));
  CHECK(fixture.value() == "70000 100000");
}

TEST_CASE("a node without a NodeSLO runs without intents and without an error") {
  CpuSuppressFixture fixture;
  fixture.node_slo("");
  CHECK(fixture.plan().empty());
}

TEST_CASE("a pod from a file may be one cgroup without containers: it is confined as a whole, on cgroup v1 and v2") {
  for (bool unified : {false, true}) {
    CpuSuppressFixture fixture;
    if (!unified) fixture.node.remove("cgroup/cgroup.controllers");
    state::Pod& pod = fixture.pods.back();
    pod.cgroup_dir = "batch.slice";
    pod.containers.resize(1);
    pod.containers[0].cgroup_dir.clear();
    pod.containers[0].state = state::ContainerState::unknown;
    fixture.publish();
    const knob::Plan plan = fixture.plan();
    REQUIRE(plan.size() == 1);
    CHECK(plan[0].level == decision::Level::pod);
    CHECK(plan[0].cgroup_dir == "batch.slice");
    CHECK(plan[0].knob->name == "cpuset.cpus");
    pod.phase = state::Phase::pending;
    fixture.publish();
    CHECK(fixture.plan().empty());
  }
}

TEST_CASE("a pod from a file without requests is not best-effort for that reason: its label decides") {
  CpuSuppressFixture fixture;
  fixture.node_slo(slo_of("cfsQuota"));
  for (state::Pod& pod : fixture.pods) {
    pod.kube_qos = state::KubeQos::best_effort;
    pod.cgroup_dir = pod.uid + ".slice";
    for (state::Container& container : pod.containers) container.cgroup_dir = pod.cgroup_dir + "/" + container.name;
  }
  fixture.publish();
  const knob::Plan plan = fixture.plan();
  REQUIRE(plan.size() == 1);
  CHECK(plan[0].cgroup_dir == "batch.slice");
  CHECK(plan[0].value == "70000 100000");  // 5.2 − 4.2 − 0.3: the service counts as non-best-effort
}

TEST_CASE("without best-effort pods there is no intent") {
  CpuSuppressFixture fixture;
  fixture.pods.pop_back();
  fixture.publish();
  service::PluginContext& context = fixture.host.context();
  fixture.host.clock().advance(1s);
  fixture.send("node_cpu_usage", 6.5);
  fixture.send("pod_cpu_usage", 4.2, fixture.handle("service"));
  CHECK(fixture.strategy.evaluate() == KOORD_OK);
  CHECK(context.take_plan().empty());
}

TEST_CASE("unknown inputs give no decision, and the error names them") {
  CpuSuppressFixture fixture;
  fixture.host.clock().advance(1s);
  CHECK(fixture.strategy.evaluate() == KOORD_E_AGAIN);
  CHECK(fixture.strategy.why().find("node_cpu_usage") != std::string::npos);
  fixture.send("node_cpu_usage", 6.5);
  CHECK(fixture.strategy.evaluate() == KOORD_E_AGAIN);
  CHECK(fixture.strategy.why().find("pod_cpu_usage") != std::string::npos);
  CHECK(fixture.round() == KOORD_OK);
  fixture.host.clock().advance(6s);
  CHECK(fixture.strategy.evaluate() == KOORD_E_AGAIN);
  CHECK(fixture.plan().size() == 1);
  fixture.node_slo("");
  CHECK(fixture.round() == KOORD_E_AGAIN);
  CHECK(fixture.strategy.why().find("NodeSLO") != std::string::npos);
}

TEST_CASE("reserved CPUs and those of SYSTEM and LSE pods are not used") {
  CpuSuppressFixture fixture;
  state::Node about;
  about.annotations["node.koordinator.sh/reservation"] = R"({"reservedCPUs":"0"})";
  about.annotations["node.koordinator.sh/system-qos-resource"] = R"({"cpuset":"1-2"})";
  fixture.about_node(about);
  fixture.pods[0].koord_qos = state::KoordQos::lse;
  fixture.pods[0].annotations["scheduling.koordinator.sh/resource-status"] = R"({"cpuset":"4-5"})";
  fixture.publish();
  CHECK(fixture.value() == "6-7");
  about.annotations["node.koordinator.sh/system-qos-resource"] = R"({"cpuset":"1-2","cpusetExclusive":false})";
  fixture.about_node(about);
  CHECK(fixture.value() == "2-3");
}

TEST_CASE(
    "a reservation by amount, as text or number, takes CPUs from best-effort pods, and returns them when removed") {
  CpuSuppressFixture fixture;
  state::Node about;
  for (const char* reservation :
       {R"({"resources":{"cpu":2}})", R"({"resources":{"cpu":"2"}})", R"({"resources":{"cpu":"1500m"}})"}) {
    CAPTURE(reservation);
    about.annotations["node.koordinator.sh/reservation"] = reservation;
    fixture.about_node(about);
    CHECK(fixture.value() == "4-5");
  }
  about.annotations["node.koordinator.sh/reservation"] = R"({"resources":{"cpu":6}})";
  fixture.about_node(about);
  CHECK(fixture.value() == "6-7");
  about.annotations.clear();
  fixture.about_node(about);
  CHECK(fixture.value() == "0-1");
}

TEST_CASE("CPUs that the scheduler gave an LSR pod are shared with best-effort pods, in proportion") {
  CpuSuppressFixture fixture;
  state::Pod pod = pod_of("lsr", state::KoordQos::lsr, state::KubeQos::guaranteed, "kubepods/podlsr");
  pod.containers[0].resources = {{"cpu", 4000, 4000}};
  pod.annotations["scheduling.koordinator.sh/resource-status"] = R"({"cpuset":"0-3"})";
  fixture.pods.push_back(pod);
  fixture.publish();
  // The container has as many CPUs as it requests, but the scheduler assigned them, not the kubelet.
  fixture.node.write("cgroup/kubepods/podlsr/main/cpuset.cpus", "0-3\n");
  const std::string value = fixture.value();
  CHECK(CpuSet::parse(value)->size() == 2);
  CHECK(!(CpuSet::parse(value).value() & CpuSet::parse("0-3").value()).empty());
}

TEST_CASE("the kubelet's reservation counts as usage of the system") {
  CpuSuppressFixture fixture;
  fixture.node_slo(slo_of("cfsQuota"));
  state::Node about;
  about.capacity["cpu"] = 8000;
  about.allocatable["cpu"] = 7500;
  fixture.about_node(about);
  CHECK(fixture.value() == "50000 100000");  // 5.2 − 4.2 − 0.5
}

TEST_CASE("a capacity of 0 is unknown, and the online CPUs are used") {
  CpuSuppressFixture fixture;
  fixture.node_slo(slo_of("cfsQuota"));
  state::Node about;
  about.capacity["cpu"] = 0;
  about.allocatable["cpu"] = 0;
  fixture.about_node(about);
  CHECK(fixture.value() == "70000 100000");  // 5.2 − 4.2 − 0.3
}

TEST_CASE("whole CPUs that the kubelet's static policy assigned to a guaranteed container are not shared") {
  CpuSuppressFixture fixture;
  state::Pod pod = pod_of("whole", state::KoordQos::none, state::KubeQos::guaranteed, "kubepods/podwhole");
  pod.containers[0].resources = {{"cpu", 2000, 2000}};
  fixture.pods.push_back(pod);
  fixture.publish();
  fixture.node.write("cgroup/kubepods/podwhole/main/cpuset.cpus", "0-1\n");
  CHECK(fixture.value() == "4-5");
  // With the shared policy every container has all of these CPUs.
  fixture.node.write("cgroup/kubepods/podwhole/main/cpuset.cpus", "0-7\n");
  fixture.host.clock().advance(11s);
  CHECK(fixture.value() == "0-1");
}

TEST_CASE("a best-effort host application of the NodeSLO counts like best-effort pods") {
  CpuSuppressFixture fixture;
  fixture.node_slo(R"({"resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cfsQuota"},"hostApplications":[
    {"name":"scan","qos":"BE","cgroupPath":{"base":"KubepodsBesteffort","relativePath":"scan"}}]})");
  fixture.send("host_application_cpu_usage", 0.3, KOORD_NO_SUBJECT, {{"host_app_name", "scan"}});
  CHECK(fixture.value() == "100000 100000");  // 5.2 − 4.2; no usage is left for the system
}

TEST_CASE("an annotation that cannot be parsed is ignored") {
  CpuSuppressFixture fixture;
  state::Node about;
  about.annotations["node.koordinator.sh/reservation"] = "all";
  fixture.about_node(about);
  CHECK(fixture.value() == "0-1");
  CHECK(fixture.value() == "0-1");
}
