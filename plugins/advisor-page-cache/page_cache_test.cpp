// SPDX-License-Identifier: Apache-2.0
// The formulas are in plugins/shared/memory and are tested there.
#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

constexpr const char* kMeminfo = "MemTotal: 1000 kB\nMemFree: 300 kB\nMemAvailable: 900 kB\n";
constexpr const char* kStat =
    "anon 8192\nfile 4096\ninactive_anon 4096\nactive_anon 4096\nunevictable 0\ninactive_file "
    "8192\nactive_file 4096\n";

void publish_pod(FakeHost& host) {
  koord::state::Pod pod;
  pod.uid = pod.name = "pod1";
  pod.cgroup_dir = "kubepods/pod1";
  pod.containers.push_back({.id = "containerd://c1", .name = "web", .cgroup_dir = "kubepods/pod1/c1"});
  host.hub().publish({.pods = std::vector{pod}});
}

}  // namespace

TEST_CASE("the first tick sends the memory with page cache of node, pod and container") {
  FakeNode node({{"cgroup/cgroup.controllers", "memory"},
                 {"proc/meminfo", kMeminfo},
                 {"cgroup/kubepods/pod1/memory.stat", kStat},
                 {"cgroup/kubepods/pod1/c1/memory.stat", kStat}});
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_memory_usage_with_page_cache") == 700.0 * 1024);
  CHECK(host.value("pod_memory_usage_with_page_cache", {{"pod_uid", "pod1"}}) == 20480.0);
  CHECK(host.value("container_memory_usage_with_page_cache", {{"container_id", "containerd://c1"}}) == 20480.0);
}

TEST_CASE("on v1 the values include the cgroups below") {
  FakeNode node({{"cgroup/cpu/", ""},
                 {"cgroup/cpuacct/", ""},
                 {"proc/meminfo", kMeminfo},
                 {"cgroup/memory/kubepods/pod1/memory.stat",
                  "inactive_anon 1\nactive_anon 1\nunevictable 1\ninactive_file 1\nactive_file 1\ntotal_inactive_anon "
                  "10\n"
                  "total_active_anon 20\ntotal_unevictable 30\ntotal_inactive_file 40\ntotal_active_file 50\n"}});
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("pod_memory_usage_with_page_cache") == 150.0);
}

TEST_CASE("each reading of memory.stat is sent once, even if the plugin ticks several times") {
  FakeNode node({{"cgroup/cgroup.controllers", "memory"},
                 {"proc/meminfo", kMeminfo},
                 {"cgroup/kubepods/pod1/memory.stat", kStat}});
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  node.write("cgroup/kubepods/pod1/memory.stat",
             "inactive_anon 1\nactive_anon 0\nunevictable 0\ninactive_file 0\nactive_file 0\n");
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("pod_memory_usage_with_page_cache") == 20480.0);
  host.clock().advance(10s);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("pod_memory_usage_with_page_cache") == 1.0);
}

TEST_CASE("the node is measured before the pods are known") {
  FakeNode node({{"cgroup/cgroup.controllers", "memory"}, {"proc/meminfo", kMeminfo}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_memory_usage_with_page_cache") == 700.0 * 1024);
}

TEST_CASE("a meminfo without MemFree fails the tick, but the values of pods are sent") {
  FakeNode node({{"cgroup/cgroup.controllers", "memory"},
                 {"proc/meminfo", "MemTotal: 1000 kB\n"},
                 {"cgroup/kubepods/pod1/memory.stat", kStat}});
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_E_IO);
  CHECK(advisor.why().find("/proc/meminfo: no line 'MemFree' in meminfo") != std::string::npos);
  CHECK(host.value("pod_memory_usage_with_page_cache") == 20480.0);
}
