// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-pod-resource/pod_resource.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using namespace koord::pod_resource;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

constexpr const char* kMemoryStat = "anon 8192\nfile 4096\ninactive_anon 4096\nactive_anon 4096\nunevictable 0\n";

FakeNode v2_node_with(std::string_view cgroup) {
  return FakeNode({{"cgroup/cgroup.controllers", "cpu memory"},
                   {"cgroup/" + std::string(cgroup) + "/cpu.stat", "usage_usec 1000000\n"},
                   {"cgroup/" + std::string(cgroup) + "/memory.stat", kMemoryStat}});
}

void publish_service(FakeHost& host, const std::string& cgroup) {
  koord::state::Container service;
  service.name = "nginx.service";
  service.kind = koord::state::ContainerKind::service;
  service.cgroup_dir = cgroup;
  host.hub().publish({.pods = std::vector<koord::state::Pod>{}, .standalone = std::vector{service}});
}

}  // namespace

TEST_CASE("memory in use is inactive_anon, active_anon and unevictable, without page cache") {
  CHECK(memory_usage_bytes({4096, 8192, 4096}) == 16384.0);
  CHECK(memory_usage_bytes({0, 0, 0}) == 0.0);
}

TEST_CASE("memory is unknown, not zero, when the kernel does not tell a part") {
  CHECK_FALSE(memory_usage_bytes({4096, 8192, MemoryStat::kAbsent}));
}

TEST_CASE("nanoseconds of CPU per nanosecond of time are cores") {
  CpuMeter meter(20'000'000'000);
  CHECK_FALSE(meter.cores(5'000, 1'000'000'000));
  CHECK(meter.cores(500'005'000, 2'000'000'000) == doctest::Approx(0.5));
}

TEST_CASE("a container that was restarted in its cgroup gives no negative CPU") {
  CpuMeter meter(20'000'000'000);
  meter.cores(900, 1'000'000'000);
  CHECK_FALSE(meter.cores(100, 2'000'000'000));
}

TEST_CASE("the plugin sends a service's memory with the first tick and its CPU with the second") {
  FakeNode node = v2_node_with("system.slice/nginx.service");
  FakeHost host(node);
  publish_service(host, "system.slice/nginx.service");
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_memory_usage", {{"container_name", "nginx.service"}}) == 8192.0);
  host.clock().advance(1s);
  node.write("cgroup/system.slice/nginx.service/cpu.stat", "usage_usec 1250000\n");
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_cpu_usage").value() == doctest::Approx(0.25));
}

TEST_CASE("a pod and its containers have series of their own, init containers too") {
  FakeNode node = v2_node_with("kubepods/pod1/c1");
  node.write("cgroup/kubepods/pod1/cpu.stat", "usage_usec 5\n");
  node.write("cgroup/kubepods/pod1/memory.stat", kMemoryStat);
  FakeHost host(node);
  koord::state::Pod pod;
  pod.uid = pod.name = "pod1";
  pod.cgroup_dir = "kubepods/pod1";
  pod.containers.push_back({.id = "containerd://c1", .name = "prepare", .kind = koord::state::ContainerKind::init, .cgroup_dir = "kubepods/pod1/c1"});
  host.hub().publish({.pods = std::vector{pod}});
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("pod_memory_usage", {{"pod_uid", "pod1"}}) == 8192.0);
  CHECK(host.value("container_memory_usage", {{"container_id", "containerd://c1"}}) == 8192.0);
}

TEST_CASE("a cgroup that is not there is silent, and measured once it is") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory"}});
  FakeHost host(node);
  publish_service(host, "late.service");
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  node.write("cgroup/late.service/cpu.stat", "usage_usec 1\n");
  node.write("cgroup/late.service/memory.stat", kMemoryStat);
  host.clock().advance(6s);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_memory_usage") == 8192.0);
}

TEST_CASE("as long as the state is not known the tick says so") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory"}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_E_AGAIN);
}

TEST_CASE("a cgroup that only the memory hierarchy of v1 has gives its memory, and no error") {
  FakeNode node({{"cgroup/cpuacct/", ""}, {"cgroup/cpu/", ""}, {"cgroup/memory/only/memory.stat",
                 "total_inactive_anon 4096\ntotal_active_anon 0\ntotal_unevictable 0\n"}});
  FakeHost host(node);
  publish_service(host, "only");
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_memory_usage") == 4096.0);
}
