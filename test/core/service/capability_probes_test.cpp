// SPDX-License-Identifier: Apache-2.0
#include "core/service/capability_probes.hpp"

#include <doctest/doctest.h>

#include <set>

#include "core/base/file.hpp"
#include "core/service/kernel_probes.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::service;
using koord::test::FakeNode;

namespace {

Capability probed(const FakeNode& node, std::string_view name) {
  const cgroup::Layout layout = cgroup::Layout::detect(node.roots()).value_or(cgroup::Layout());
  for (const Capability& capability : probe_capabilities(node.roots(), layout)) {
    if (capability.name == name) return capability;
  }
  return {};
}

}  // namespace

TEST_CASE("a node of cgroup v2 has its controllers and the pressure of its cgroups") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory\n"},
                 {"cgroup/a.slice/cpu.pressure", ""},
                 {"cgroup/a.slice/memory.reclaim", ""}});
  CHECK(probed(node, "cgroup").detail == "v2");
  CHECK(probed(node, "cgroup_v2").state == CapabilityState::supported);
  CHECK(probed(node, "memory_cgroup").state == CapabilityState::supported);
  CHECK(probed(node, "cpuset_cgroup").state == CapabilityState::absent);
  CHECK(probed(node, "psi_cgroup").state == CapabilityState::supported);
  CHECK(probed(node, "memory_reclaim").state == CapabilityState::supported);
}

TEST_CASE("a node of cgroup v1 has no unified hierarchy and what comes with it") {
  FakeNode node({{"cgroup/cpu/", ""}, {"cgroup/memory/", ""}});
  CHECK(probed(node, "cgroup").detail == "v1");
  CHECK(probed(node, "memory_cgroup").detail == "v1");
  CHECK(probed(node, "cgroup_v2").state == CapabilityState::absent);
  CHECK(probed(node, "memory_reclaim").state == CapabilityState::absent);
}

TEST_CASE("a node without any cgroup is broken, for the agent needs one") {
  FakeNode node;
  CHECK(probed(node, "cgroup").state == CapabilityState::broken);
}

TEST_CASE("a feature that the kernel offers by a file exists if the file does") {
  struct {
    const char *name, *path, *content;
  } const rows[] = {
      {"psi", "proc/pressure/cpu", "some avg10=0.00\n"},
      {"btf", "sys/kernel/btf/vmlinux", "x"},
      {"kidled", "sys/kernel/mm/kidled/scan_period_in_seconds", "120\n"},
      {"damon", "sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds", "0\n"},
      {"page_idle", "sys/kernel/mm/page_idle/bitmap", ""},
      {"resctrl", "resctrl/schemata", "L3:0=ff\n"},
      {"sched_schedstats", "proc/sys/kernel/sched_schedstats", "1\n"},
      {"sched_delay", "proc/self/schedstat", "1 2 3\n"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    FakeNode without;
    CHECK(probed(without, row.name).state == CapabilityState::absent);
    FakeNode with({{row.path, row.content}});
    CHECK(probed(with, row.name).state == CapabilityState::supported);
  }
}

TEST_CASE("schedstats that are switched off are absent, with the switch in the text") {
  FakeNode node({{"proc/sys/kernel/sched_schedstats", "0\n"}});
  CHECK(probed(node, "sched_schedstats").state == CapabilityState::absent);
  CHECK(probed(node, "sched_schedstats").detail == "off; sysctl kernel.sched_schedstats=1");
}

TEST_CASE("resource control that the kernel has and that is not mounted is broken") {
  FakeNode node({{"proc/filesystems", "nodev\tresctrl\n"}, {"resctrl/", ""}});
  CHECK(probed(node, "resctrl").state == CapabilityState::broken);
}

TEST_CASE("every capability has a name of its own, and what is not supported a reason") {
  FakeNode node;
  std::set<std::string> names;
  for (const Capability& capability : probe_capabilities(node.roots(), cgroup::Layout())) {
    CAPTURE(capability.name);
    CHECK(names.insert(capability.name).second);
    CHECK((capability.state == CapabilityState::supported || !capability.detail.empty()));
  }
}

TEST_CASE("probing the running kernel leaves no descriptor behind") {
  const auto count = [] { return list_directory("/proc/self/fd")->size(); };
  const std::size_t before = count();
  for (auto probe : {probe_bpf, probe_bpf_tracepoint, probe_perf_event, probe_pmu, probe_core_scheduling,
                     probe_oom_score_adj, probe_inotify, probe_pidfd})
    static_cast<void>(probe());
  CHECK(count() == before);
}
