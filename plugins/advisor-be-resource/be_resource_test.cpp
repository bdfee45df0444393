// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-be-resource/be_resource.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using namespace koord::be_resource;
using koord::CpuSet;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

CpuSet cpus(std::string_view list) { return CpuSet::parse(list).value(); }

Pod best_effort(std::vector<Container> containers) {
  Pod pod;
  pod.is_best_effort = true;
  pod.containers = std::move(containers);
  return pod;
}

koord::metric::Labels of(std::string_view allocation) {
  return {{"be_resource", "cpu"}, {"be_allocation", std::string(allocation)}};
}

constexpr const char* kSlice = "kubepods.slice/kubepods-besteffort.slice";
constexpr const char* kPodSlice = "kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu1.slice";

koord::state::Pod state_pod(bool object_known) {
  koord::state::Pod pod;
  pod.uid = pod.name = "u1";
  if (object_known) pod.namespace_ = "default";
  pod.kube_qos = koord::state::KubeQos::best_effort;
  pod.koord_qos = koord::state::KoordQos::be;
  pod.phase = koord::state::Phase::running;
  pod.cgroup_dir = kPodSlice;
  koord::state::Container container;
  container.id = "containerd://c1";
  container.name = "batch";
  container.cgroup_dir = std::string(kPodSlice) + "/cri-containerd-c1.scope";
  container.resources = {{"kubernetes.io/batch-cpu", 1500, 1500}};
  koord::state::Container sandbox;
  sandbox.id = "containerd://s1";
  sandbox.kind = koord::state::ContainerKind::sandbox;
  sandbox.cgroup_dir = std::string(kPodSlice) + "/cri-containerd-s1.scope";
  pod.containers = {container, sandbox};
  return pod;
}

void make_v1(FakeNode& node) {
  const std::string slice = kSlice, pod = kPodSlice;
  node.make_directory("cgroup/memory");
  node.write("cgroup/cpuacct/" + slice + "/cpuacct.usage", "1000000000\n");
  node.write("cgroup/cpu/" + slice + "/cpu.cfs_quota_us", "-1\n");
  node.write("cgroup/cpu/" + slice + "/cpu.cfs_period_us", "100000\n");
  node.write("cgroup/cpuset/" + slice + "/cpuset.effective_cpus", "0-7\n");
  node.write("cgroup/cpuset/" + pod + "/cri-containerd-c1.scope/cpuset.effective_cpus", "2-3\n");
  node.write("cgroup/cpuset/" + pod + "/cri-containerd-s1.scope/cpuset.effective_cpus", "0-7\n");
}

}  // namespace

TEST_CASE("usable CPUs are those of all containers together") {
  CHECK(usable_cpus(cpus("0-7"), {cpus("2-3"), cpus("3-5")}) == cpus("2-5"));
}

TEST_CASE("no container can use CPUs that the directory of the class lacks") {
  CHECK(usable_cpus(cpus("0-3"), {cpus("0-7")}) == cpus("0-3"));
}

TEST_CASE("without containers, or with containers without CPUs, the usable CPUs are those of the directory") {
  CHECK(usable_cpus(cpus("0-3"), {}) == cpus("0-3"));
  CHECK(usable_cpus(cpus("0-3"), {CpuSet()}) == cpus("0-3"));
}

TEST_CASE("the limit is the smaller of CPUs and quota, in milli-cores") {
  CHECK(real_limit_milli(4, CpuMax{250'000, 100'000}) == 2500.0);
  CHECK(real_limit_milli(2, CpuMax{250'000, 100'000}) == 2000.0);
  CHECK(real_limit_milli(2, CpuMax{-1, 100'000}) == 2000.0);
  CHECK(real_limit_milli(2, std::nullopt) == 2000.0);
  CHECK(real_limit_milli(std::nullopt, CpuMax{50'000, 100'000}) == 500.0);
}

TEST_CASE("without CPUs and without a quota the limit is unknown") {
  CHECK_FALSE(real_limit_milli(std::nullopt, CpuMax{-1, 100'000}));
  CHECK_FALSE(real_limit_milli(std::nullopt, std::nullopt));
}

TEST_CASE("the request is the batch-cpu of the containers that run at the same time") {
  const Container init{.runs_beside = false, .batch_cpu_milli = 9000};
  CHECK(requested_milli({best_effort({{true, 1500}, {true, 500}, init, {true, std::nullopt}}),
                         best_effort({{true, 250}})}) == 2250.0);
  CHECK(requested_milli({}) == 0.0);
}

TEST_CASE("pods of other classes and pods that have ended request nothing") {
  Pod other{.containers = {{true, 100}}};
  Pod ended = best_effort({{true, 100}});
  ended.has_ended = true;
  CHECK(requested_milli({other, ended}) == 0.0);
}

TEST_CASE("requests are unknown, not 0, if a best-effort pod is known only by its cgroup") {
  Pod bare = best_effort({{true, std::nullopt}});
  bare.object_known = false;
  CHECK_FALSE(requested_milli({best_effort({{true, 100}}), bare}));
}

TEST_CASE("the first tick reports limit and request, the second the usage") {
  FakeNode node;
  make_v1(node);
  FakeHost host(node);
  host.hub().publish({.pods = std::vector{state_pod(true)}});
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_be", of("real-limit")) == 2000.0);
  CHECK(host.value("node_be", of("request")) == 1500.0);
  CHECK_FALSE(host.value("node_be", of("usage")));
  host.clock().advance(2s);
  node.write("cgroup/cpuacct/kubepods.slice/kubepods-besteffort.slice/cpuacct.usage", "1500000000\n");
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_be", of("usage")).value() == doctest::Approx(250));
}

TEST_CASE("a quota of the class on v2 bounds the limit") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu cpuset memory"},
                 {"cgroup/kubepods/besteffort/cpu.stat", "usage_usec 5\n"},
                 {"cgroup/kubepods/besteffort/cpu.max", "150000 100000\n"},
                 {"cgroup/kubepods/besteffort/cpuset.cpus.effective", "0-3\n"}});
  FakeHost host(node);
  host.hub().publish({.pods = std::vector<koord::state::Pod>{}});
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_be", of("real-limit")) == 1500.0);
  CHECK(host.value("node_be", of("request")) == 0.0);
}

TEST_CASE("pods that are known only by their cgroups have usage and limit, but no request") {
  FakeNode node;
  make_v1(node);
  FakeHost host(node);
  host.hub().publish({.pods = std::vector{state_pod(false)}});
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_be", of("real-limit")) == 2000.0);
  CHECK_FALSE(host.value("node_be", of("request")));
}

TEST_CASE("a node without the directory of the class has no value and no error") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory"}});
  FakeHost host(node);
  host.hub().publish({.pods = std::vector<koord::state::Pod>{}});
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK_FALSE(host.value("node_be", of("real-limit")));
  CHECK_FALSE(host.value("node_be", of("usage")));
}

TEST_CASE("an invalid CPU set fails the tick with its name, but the usage is sent") {
  FakeNode node;
  make_v1(node);
  FakeHost host(node);
  host.hub().publish({.pods = std::vector{state_pod(true)}});
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  node.write("cgroup/cpuset/kubepods.slice/kubepods-besteffort.slice/cpuset.effective_cpus", "0-x\n");
  host.clock().advance(1s);
  CHECK(advisor.collect() == KOORD_E_IO);
  CHECK(advisor.why().find("kubepods-besteffort.slice/cpuset.effective_cpus'") != std::string::npos);
  CHECK(host.value("node_be", of("usage")) == 0.0);
}
