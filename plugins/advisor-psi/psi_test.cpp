// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-psi/psi.hpp"

#include <doctest/doctest.h>

#include "core/cgroup/files.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::psi;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

constexpr const char* kIdle =
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
constexpr const char* kBusy =
    "some avg10=25.50 avg60=12.25 avg300=3.00 total=4000000\nfull avg10=10.00 avg60=5.00 avg300=1.00 total=1500000\n";
constexpr const char* kBusySecond =
    "some avg10=30.00 avg60=14.00 avg300=4.00 total=9000000\nfull avg10=10.00 avg60=5.00 avg300=1.00 total=1500000\n";
constexpr const char* kSomeOnly = "some avg10=25.50 avg60=12.25 avg300=3.00 total=4000000\n";

void write_pressure(FakeNode& node, const std::string& directory, const char* infix, const char* cpu) {
  node.write(directory + "/cpu" + infix, cpu);
  node.write(directory + "/memory" + infix, kIdle);
  node.write(directory + "/io" + infix, kIdle);
}

// A node with pressure, and a pod with one container in the given tree.
struct PsiFixture {
  explicit PsiFixture(std::string cgroup_tree = "cgroup") : tree(std::move(cgroup_tree)) {
    write_pressure(node, "proc/pressure", "", kBusy);
    node.write(tree + "/cgroup.controllers", "cpu memory io\n");
    write_pod(kBusy);
  }
  void write_pod(const char* cpu) {
    write_pressure(node, tree + "/kubepods/pod1", ".pressure", cpu);
    write_pressure(node, tree + "/kubepods/pod1/c1", ".pressure", cpu);
  }
  std::string tree;
  FakeNode node;
};

void publish_pod(FakeHost& host) {
  koord::state::Pod pod;
  pod.uid = pod.name = "pod1";
  pod.cgroup_dir = "kubepods/pod1";
  pod.containers.push_back({.id = "containerd://c1", .name = "main", .cgroup_dir = "kubepods/pod1/c1"});
  host.hub().publish({.pods = std::vector{pod}});
}

koord::metric::Labels labels(const char* resource, const char* degree) {
  return {{"psi_resource", resource}, {"psi_degree", degree}};
}
koord::metric::Labels labels(const char* resource, const char* precision, const char* degree) {
  return {{"psi_resource", resource}, {"psi_precision", precision}, {"psi_degree", degree}};
}

}  // namespace

TEST_CASE("a pressure file gives the percentages and the total of both lines") {
  const Pressure pressure = parse_pressure(kBusy);
  CHECK(pressure.some.percent[0] == 25.5);
  CHECK(pressure.some.percent[2] == 3.0);
  CHECK(pressure.some.total_us == 4'000'000);
  CHECK(pressure.full.percent[1] == 5.0);
  CHECK(pressure.full.total_us == 1'500'000);
}

TEST_CASE("a missing line is unknown, for full and for some") {
  CHECK_FALSE(parse_pressure(kSomeOnly).full.is_known());
  CHECK(parse_pressure(kSomeOnly).some.is_known());
  const Pressure full_only = parse_pressure("full avg10=1.00 avg60=1.00 avg300=1.00 total=7\n");
  CHECK_FALSE(full_only.some.is_known());
  CHECK(full_only.full.total_us == 7);
}

TEST_CASE("a value that is not a number is unknown, but not the rest of the line") {
  const Pressure pressure = parse_pressure("some avg10=x avg60=2.00 avg300 total=-5\nother avg10=1.00\n");
  CHECK_FALSE(pressure.some.percent[0]);
  CHECK(pressure.some.percent[1] == 2.0);
  CHECK_FALSE(pressure.some.percent[2]);
  CHECK_FALSE(pressure.some.total_us);
  CHECK_FALSE(parse_pressure("").some.is_known());
}

TEST_CASE("the order of the keys equals the order of the values") {
  std::array<std::int64_t, 8> values = {1000, 2000, 3000, 4, 500, koord::cgroup::kAbsent, 700, 8};
  const Pressure pressure = pressure_of(values);
  CHECK(pressure.some.percent[1] == 20.0);
  CHECK(pressure.some.total_us == 4);
  CHECK(pressure.full.percent[0] == 5.0);
  CHECK_FALSE(pressure.full.percent[1]);
}

TEST_CASE("the stalled ratio is the stalled time divided by the time between the reads") {
  StalledRatio ratio;
  CHECK_FALSE(ratio.update(1'000'000, 5'000'000'000));
  CHECK(ratio.update(3'500'000, 15'000'000'000).value() == doctest::Approx(0.25));
}

TEST_CASE("a stalled ratio is at most 1, and unknown after a reset or a long gap") {
  StalledRatio ratio;
  ratio.update(0, 1'000'000'000);
  CHECK(ratio.update(1'000'100, 2'000'000'000) == 1.0);
  CHECK_FALSE(ratio.update(5, 3'000'000'000));
  CHECK_FALSE(ratio.update(6, 300'000'000'000));
}

TEST_CASE("on a kernel without pressure stall information the plugin is absent with the reason") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory io\n"}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("CONFIG_PSI") != std::string::npos);
}

TEST_CASE("the node has all averages and, without a pod, nothing else") {
  PsiFixture fixture;
  FakeHost host(fixture.node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_psi", labels("cpu", "10", "some")) == 25.5);
  CHECK(host.value("node_psi", labels("cpu", "300", "some")) == 3.0);
  CHECK(host.value("node_psi", labels("mem", "60", "full")) == 0.0);
  CHECK(host.value("node_pressure_stalled_seconds_total", labels("cpu", "some")) == 4.0);
  CHECK(host.series("pod_psi").empty());
}

TEST_CASE("full CPU stalls of the whole node have no meaning and are not reported") {
  PsiFixture fixture;
  FakeHost host(fixture.node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK_FALSE(host.value("node_psi", labels("cpu", "10", "full")));
  CHECK_FALSE(host.value("node_pressure_stalled_seconds_total", labels("cpu", "full")));
}

TEST_CASE(
    "pods and containers have the average of 10 s and the stalled time, and pods the ratio since the previous tick") {
  PsiFixture fixture;
  FakeHost host(fixture.node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_psi", labels("cpu", "10", "some")) == 25.5);
  CHECK(host.value("pod_psi", labels("cpu", "10", "full")) == 10.0);
  CHECK(host.value("container_pressure_stalled_seconds_total", labels("cpu", "full")) == 1.5);
  CHECK(host.series("pod_psi_stalled_ratio").empty());
  host.clock().advance(10s);
  fixture.write_pod(kBusySecond);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("pod_psi_stalled_ratio", labels("cpu", "some")).value() == doctest::Approx(0.5));
  CHECK(host.series("container_psi_stalled_ratio").empty());
}

TEST_CASE("by default a container has 13 series, a pod 19") {
  PsiFixture fixture;
  FakeHost host(fixture.node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  for (int tick = 0; tick < 2; ++tick) {
    CHECK(advisor.collect() == KOORD_OK);
    host.clock().advance(10s);
  }
  const auto count = [&](const std::string& level) {
    std::size_t sum = 0;
    for (const char* name :
         {"_psi", "_pressure_stalled_seconds_total", "_psi_stalled_ratio", "_psi_cpu_full_supported"})
      sum += host.series(level + name).size();
    return sum;
  };
  CHECK(count("container") == 13);
  CHECK(count("pod") == 19);
}

TEST_CASE("the configuration adds averages and the containers' ratio") {
  PsiFixture fixture;
  FakeHost host(fixture.node, R"({"precisions": [10, 300], "ratio": "container"})");
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  for (int tick = 0; tick < 2; ++tick) {
    CHECK(advisor.collect() == KOORD_OK);
    host.clock().advance(10s);
  }
  CHECK(host.series("container_psi").size() == 12);
  CHECK(host.value("container_psi", labels("cpu", "300", "some")) == 3.0);
  CHECK(host.value("container_psi_stalled_ratio", labels("cpu", "some")) == 0.0);
}

TEST_CASE("support of full CPU stalls is a separate metric, only about the CPU") {
  PsiFixture fixture;
  FakeHost host(fixture.node);
  fixture.write_pod(kSomeOnly);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_psi_cpu_full_supported") == 0.0);
  CHECK(host.value("pod_psi_cpu_full_supported") == 0.0);
  CHECK_FALSE(host.value("container_psi", labels("cpu", "10", "full")));
  CHECK(host.value("container_psi", labels("mem", "10", "full")) == 0.0);
}

TEST_CASE("on a hybrid node the pressure comes from the unified tree") {
  PsiFixture fixture("cgroup/unified");
  fixture.node.make_directory("cgroup/cpu/kubepods/pod1/c1");
  fixture.node.make_directory("cgroup/cpuacct/kubepods/pod1/c1");
  FakeHost host(fixture.node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_psi", labels("cpu", "10", "some")) == 25.5);
  CHECK(host.capabilities().find("container_psi")->state == koord::service::CapabilityState::supported);
}

TEST_CASE("on a v1 node with a vendor's kernel the pressure comes from the cpuacct tree") {
  FakeNode node;
  write_pressure(node, "proc/pressure", "", kIdle);
  write_pressure(node, "cgroup/cpuacct/kubepods/pod1", ".pressure", kBusy);
  write_pressure(node, "cgroup/cpuacct/kubepods/pod1/c1", ".pressure", kBusy);
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_psi", labels("cpu", "10", "some")) == 25.5);
}

TEST_CASE(
    "on a v1 node without pressure of cgroups the node is measured, and the capability has the reason for the pods") {
  FakeNode node;
  write_pressure(node, "proc/pressure", "", kBusy);
  for (const char* tree : {"cgroup/cpu/", "cgroup/cpuacct/", "cgroup/memory/"})
    node.make_directory(tree + std::string("kubepods/pod1/c1"));
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_psi", labels("cpu", "10", "some")) == 25.5);
  CHECK(host.series("container_psi").empty());
  CHECK(host.capabilities().find("container_psi")->state == koord::service::CapabilityState::absent);
}

TEST_CASE("a cgroup that was searched before its directory in the unified tree existed is found later") {
  PsiFixture fixture("cgroup/unified");
  fixture.node.remove("cgroup/unified/kubepods");
  fixture.node.make_directory("cgroup/cpu/kubepods/pod1/c1");
  FakeHost host(fixture.node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.series("container_psi").empty());
  fixture.write_pod(kBusy);
  host.clock().advance(70s);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_psi", labels("cpu", "10", "some")) == 25.5);
}
