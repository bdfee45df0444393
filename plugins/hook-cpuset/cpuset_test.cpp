// SPDX-License-Identifier: Apache-2.0
#include "plugins/hook-cpuset/cpuset.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using namespace koord::hook_cpuset;
using koord::CpuSet;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using Fields = decltype(koord::host::HookSettings::fields);

namespace {

constexpr std::uint32_t kOn = KOORD_CPU_ONLINE;

// Two NUMA nodes with four CPUs each; CPU 7 is offline.
Pools pools(const std::map<unsigned, std::uint32_t>& flags = {}) {
  std::vector<koord_cpu> cpus;
  for (unsigned cpu = 0; cpu < 8; ++cpu) {
    const auto found = flags.find(cpu);
    const std::uint32_t of_cpu = (cpu == 7 ? 0 : kOn) | (found == flags.end() ? 0 : found->second);
    cpus.push_back({cpu, cpu, 0, cpu / 4, cpu / 4, of_cpu});
  }
  return pools_of({cpus.data(), static_cast<std::uint32_t>(cpus.size()), sizeof cpus[0]});
}

PodFacts pod(std::string_view label, std::string_view cpus = "", std::vector<std::uint32_t> nodes = {}) {
  PodFacts facts;
  facts.label = label;
  facts.allocation = {*CpuSet::parse(cpus), std::move(nodes)};
  facts.request_milli = 2000;
  return facts;
}

PodFacts best_effort(PodFacts facts) {
  facts.is_best_effort = true;
  return facts;
}

// Returns "0-3", "0-3 no quota", or "-" for no answer.
std::string text_of(const Adjustment& adjustment) {
  const std::string cpus = adjustment.cpus ? adjustment.cpus->list() : "-";
  return cpus + (adjustment.has_no_quota ? " no quota" : "");
}

const std::map<unsigned, std::uint32_t> kOwned = {
    {0, KOORD_CPU_RESERVED}, {1, KOORD_CPU_LSE}, {2, KOORD_CPU_LSR}, {4, KOORD_CPU_PINNED}, {5, KOORD_CPU_SYSTEM}};

}  // namespace

TEST_CASE("an allocation is a list of CPUs, and the NUMA nodes on which the pod has CPU time") {
  CHECK(*parse_allocation("") == Allocation{});
  CHECK(*parse_allocation("{}") == Allocation{});
  CHECK(*parse_allocation(R"({"cpuset":"0-3,8","x":1})") == Allocation{*CpuSet::parse("0-3,8"), {}});
  CHECK(*parse_allocation(R"({"numaNodeResources":[{"node":0,"resources":{"cpu":"4"}},
    {"node":1,"resources":{"kubernetes.io/batch-cpu":"1000"}},{"node":2,"resources":{"memory":"1Gi"}},
    {"node":3,"resources":{"cpu":"0"}},{"node":4}]})") == Allocation{{}, {0, 1}});
}

TEST_CASE("the error about an unreadable annotation names it and what was expected") {
  for (const char* text : {"[]", "3", "{", R"({"cpuset":3})", R"({"cpuset":"3-1"})", R"({"cpuset":"0-4294967295"})",
                           R"({"cpuset":"a"})", R"({"numaNodeResources":{}})", R"({"numaNodeResources":[{"node":-1}]})",
                           R"({"numaNodeResources":[{"node":1024}]})", R"({"numaNodeResources":[{"node":0.5}]})",
                           R"({"numaNodeResources":[{"node":0,"resources":{"cpu":"much"}}]})"}) {
    CAPTURE(text);
    const auto allocation = parse_allocation(text);
    REQUIRE_FALSE(allocation);
    CHECK(allocation.error().message().starts_with("scheduling.koordinator.sh/resource-status: "));
  }
  CHECK(parse_system_cpus(R"({"cpuset":"2-3"})")->list() == "2-3");
  CHECK(parse_system_cpus("")->empty());
  CHECK(parse_system_cpus("[]").error().message().starts_with("node.koordinator.sh/system-qos-resource: "));
}

TEST_CASE(
    "pods share the online CPUs that are not reserved and belong to no pod; best-effort pods also use those of LSR") {
  const Pools owned = pools(kOwned);
  CHECK(owned.online.list() == "0-6");
  CHECK(owned.shared.list() == "3,6");
  CHECK(owned.best_effort.list() == "2-4,6");
  CHECK(owned.numa_nodes.at(1).list() == "4-6");
}

// The cases are in koordlet's order of decisions.
TEST_CASE("a container's CPUs are the scheduler's, or else those of its NUMA nodes, of its class, or the shared ones") {
  const CpuSet system = *CpuSet::parse("5,7");
  struct Row {
    const char* what;
    PodFacts pod;
    const char* expected;
    Settings settings = {};
  };
  const Settings is_static{.has_static_policy = true}, by_node{.uses_best_effort_pools = true},
      with_quota{.removes_quota = false};
  PodFacts whole = pod("");
  whole.may_own_statically = true;
  for (const Row& row : {Row{"LSE", pod("LSE", "1"), "1 no quota"},
                         Row{"LSR", pod("LSR", "2-3"), "2-3 no quota"},
                         Row{"LSR that keeps its quota", pod("LSR", "2-3"), "2-3", with_quota},
                         Row{"no label counts as LSR", pod("", "2"), "2 no quota"},
                         Row{"no label, best-effort", best_effort(pod("", "2")), "2"},
                         Row{"LS keeps its quota", pod("LS", "2"), "2"},
                         Row{"BE keeps its quota", best_effort(pod("BE", "2")), "2"},
                         Row{"an offline CPU is left out", pod("LSR", "6-7"), "6 no quota"},
                         Row{"LS by NUMA node", pod("LS", "", {1}), "6"},
                         Row{"no label by NUMA node", pod("", "", {0}), "3"},
                         Row{"two NUMA nodes", pod("LS", "", {0, 1}), "3,6"},
                         Row{"BE by NUMA node", best_effort(pod("BE", "", {0})), "-"},
                         Row{"BE by NUMA node with pools", best_effort(pod("BE", "", {0})), "2-3", by_node},
                         Row{"BE without an allocation", best_effort(pod("BE")), "-", by_node},
                         Row{"SYSTEM", pod("SYSTEM"), "5"},
                         Row{"LS", pod("LS"), "3,6"},
                         Row{"LSR without CPUs", pod("LSR"), "3,6"},
                         Row{"no label", pod(""), "3,6"},
                         Row{"no label, best-effort", best_effort(pod("")), "-"},
                         Row{"LS, best-effort", best_effort(pod("LS")), "-"},
                         Row{"static kubelet", pod(""), "-", is_static},
                         Row{"static kubelet, LS", pod("LS"), "-", is_static},
                         Row{"static kubelet, LSR", pod("LSR", "2"), "2 no quota", is_static},
                         Row{"whole CPUs", whole, "-"}}) {
    CAPTURE(row.what);
    const Adjustment adjustment = adjust(row.pod, pools(kOwned), system, row.settings);
    CHECK(text_of(adjustment) == row.expected);
    CHECK(adjustment.problem == "");
  }
  CHECK(text_of(adjust(pod("SYSTEM"), pools(kOwned), {}, {})) == "3,6");
}

TEST_CASE("all CPUs need no cpuset, and unknown CPUs get no answer") {
  CHECK(adjust(pod("LS"), pools(), {}, {}) == Adjustment{});
  CHECK(adjust(pod("LSR", "1"), Pools{}, {}, {}) == Adjustment{});
}

TEST_CASE("an allocation that cannot come from the scheduler changes little, and is reported") {
  const auto problem = [](const PodFacts& facts, const Pools& of) { return adjust(facts, of, {}, {}).problem; };
  // The pod has more CPUs than requested. It runs on them, with the quota of its limit.
  const Adjustment greedy = adjust(pod("LSR", "0-6"), pools(), {}, {});
  CHECK(text_of(greedy) == "0-6");
  CHECK(greedy.problem == "it has 7 CPUs of its own and requests 2000m; its CPU quota stays");
  CHECK(text_of(adjust(pod("LSR", "7,4000"), pools(), {}, {})) == "-");
  CHECK(problem(pod("LSR", "7,4000"), pools()) == "none of its CPUs 7,4000 is online");
  const Adjustment nowhere = adjust(pod("LS", "", {9}), pools(kOwned), {}, {});
  CHECK(text_of(nowhere) == "3,6");
  CHECK(nowhere.problem == "its NUMA nodes have no CPU that pods share; it gets the shared ones of all nodes");
  std::map<unsigned, std::uint32_t> full;
  for (unsigned cpu = 0; cpu < 8; ++cpu) full[cpu] = KOORD_CPU_LSR;
  CHECK(text_of(adjust(pod("LS"), pools(full), {}, {})) == "-");
  CHECK(problem(pod("LS"), pools(full)) == "all CPUs are reserved or belong to single pods; its CPUs stay as they are");
}

TEST_CASE("a container gets CPUs, and its pod only loses the quota") {
  const FakeNode node;
  FakeHost host(node);
  FakeInstance hook(host, koord_entry_v1());
  REQUIRE(hook.init() == KOORD_OK);
  Pod owner;
  owner.name = "owner";
  owner.labels = {{"koordinator.sh/qosClass", "LSR"}};
  owner.annotations = {{std::string(kAllocationAnnotation), R"({"cpuset":"1"})"}};
  owner.containers.emplace_back();
  owner.resources = owner.containers[0].resources = {{"cpu", 1000, 1000}};
  CHECK(hook.handle(owner, &owner.containers[0]).fields.empty());  // the topology is unknown

  koord::state::Topology topology;
  for (int cpu = 0; cpu < 4; ++cpu) topology.cpus.push_back({.cpu = cpu, .core = cpu, .online = true});
  koord::state::Node about;
  about.annotations = {{std::string(kSystemAnnotation), R"({"cpuset":"3"})"},
                       {"node.koordinator.sh/reservation", R"({"reservedCPUs":"0"})"}};
  host.hub().publish({.node = about, .pods = std::vector{owner}, .topology = topology});
  CHECK(hook.handle(owner).fields == Fields{{"linux.cpu.quota", "-1"}});
  CHECK(hook.handle(owner, &owner.containers[0]).fields ==
        Fields{{"linux.cpu.quota", "-1"}, {"linux.cpuset.cpus", "1"}});

  Pod other;
  other.containers.emplace_back();
  other.labels = {{"koordinator.sh/qosClass", "LS"}};
  CHECK(hook.handle(other).fields.empty());
  CHECK(hook.handle(other, &other.containers[0]).fields == Fields{{"linux.cpuset.cpus", "2"}});
  other.annotations = {{std::string(kAllocationAnnotation), R"({"cpuset":"all"})"}};
  CHECK(hook.handle(other, &other.containers[0]).fields == Fields{{"linux.cpuset.cpus", "2"}});
  other.labels = {{"koordinator.sh/qosClass", "SYSTEM"}};
  CHECK(hook.handle(other, &other.containers[0]).fields == Fields{{"linux.cpuset.cpus", "3"}});
}
