// SPDX-License-Identifier: Apache-2.0
// The memory formulas are tested in plugins/shared/memory.
#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

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

// Publishes a pod with a container of each kind, on a node with the given number of NUMA nodes.
void publish_pod(FakeHost& host, int numa_nodes) {
  koord::state::Pod pod;
  pod.uid = pod.name = "pod1";
  pod.cgroup_dir = "kubepods/pod1";
  using enum koord::state::ContainerKind;
  for (auto kind : {init, sidecar, ephemeral, sandbox, regular}) {
    const std::string name(name_of(kind));
    pod.containers.push_back(
        {.id = "containerd://" + name, .name = name, .kind = kind, .cgroup_dir = "kubepods/pod1/" + name});
  }
  koord::state::Topology topology;
  for (int i = 0; i < numa_nodes; ++i) topology.numa_nodes.push_back({i, 1 << 20});
  host.hub().publish({.pods = std::vector{pod}, .topology = topology});
}

}  // namespace

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

TEST_CASE("a pod and its containers have their own series, including init, sidecar, ephemeral and sandbox containers") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory"}, {"cgroup/kubepods/pod1/memory.stat", kMemoryStat}});
  for (const std::string name : {"init", "sidecar", "ephemeral", "sandbox", "regular"})
    node.write("cgroup/kubepods/pod1/" + name + "/memory.stat", kMemoryStat);
  FakeHost host(node);
  publish_pod(host, 1);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("pod_memory_usage", {{"pod_uid", "pod1"}}) == 8192.0);
  for (const char* name : {"init", "sidecar", "ephemeral", "sandbox", "regular"})
    CHECK(host.value("container_memory_usage", {{"container_id", std::string("containerd://") + name}}) == 8192.0);
}

TEST_CASE("the memory charged by the kernel is sent at every tick, and memory.stat's after each new read") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory"},
                 {"cgroup/web.service/memory.stat", kMemoryStat},
                 {"cgroup/web.service/memory.current", "20480\n"}});
  FakeHost host(node);
  host.services().cgroups.set_costly_period(5s);
  publish_service(host, "web.service");
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  const auto samples = [&](const char* metric) {
    const auto series = host.store().samples({.metric = metric, .to = host.clock().now()});
    return series.empty() ? 0 : series[0].samples.size();
  };
  std::size_t ticks = 0;
  const auto tick = [&] {
    CHECK(advisor.collect() == KOORD_OK);
    host.clock().advance(1s);
    ++ticks;
  };
  // A cgroup is read again at a second of the period that depends on its path. This advances to that second.
  while (ticks < 6 && samples("container_memory_usage") < 2) tick();
  REQUIRE(samples("container_memory_usage") == 2);
  node.write("cgroup/web.service/memory.stat", "inactive_anon 1\nactive_anon 0\nunevictable 0\n");
  for (int second = 1; second < 5; ++second) tick();
  CHECK(samples("container_memory_usage") == 2);
  tick();
  CHECK(samples("container_memory_usage") == 3);
  CHECK(host.value("container_memory_usage") == 1.0);
  CHECK(samples("container_memory_current_bytes") == ticks);
  CHECK(host.value("container_memory_current_bytes") == 20480.0);
}

TEST_CASE("a pod's memory is reported for each NUMA node, its containers' is not") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory"},
                 {"cgroup/kubepods/pod1/memory.numa_stat",
                  "anon N0=1 N1=2\ninactive_anon N0=100 N1=200\nactive_anon N0=10 N1=20\nunevictable N0=1 N1=2\n"}});
  FakeHost host(node);
  publish_pod(host, 2);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("pod_numa_memory_usage", {{"numa_node_id", "0"}}) == 111.0);
  CHECK(host.value("pod_numa_memory_usage", {{"numa_node_id", "1"}}) == 222.0);
  CHECK(host.series("pod_numa_memory_usage").size() == 2);
}

TEST_CASE("on a single NUMA node a pod uses all its memory there, with or without NUMA statistics of the kernel") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory"}, {"cgroup/kubepods/pod1/memory.stat", kMemoryStat}});
  FakeHost host(node);
  publish_pod(host, 1);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("pod_numa_memory_usage", {{"numa_node_id", "0"}}) == 8192.0);
}

TEST_CASE("a missing cgroup gives no values and no error, and is measured when it exists") {
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

TEST_CASE("while the state is unknown the tick reports that") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory"}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_E_AGAIN);
}

TEST_CASE("a cgroup that exists only in the memory hierarchy of v1 has its memory, and no error") {
  FakeNode node(
      {{"cgroup/cpuacct/", ""},
       {"cgroup/cpu/", ""},
       {"cgroup/memory/only/memory.stat", "total_inactive_anon 4096\ntotal_active_anon 0\ntotal_unevictable 0\n"}});
  FakeHost host(node);
  publish_service(host, "only");
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_memory_usage") == 4096.0);
}
