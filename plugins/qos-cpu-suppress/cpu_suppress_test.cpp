// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-suppress/cpu_suppress.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "koordetector/plugin.h"

using namespace koord;
using namespace koord::cpu_suppress;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr Settings kAtOnce{.hold_ns = 0};

// Columns: CPU, core, socket, NUMA node.
std::vector<Cpu> topology_a() {
  return {{0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 1, 1}, {3, 3, 1, 1},
          {4, 0, 0, 0}, {5, 1, 0, 0}, {6, 2, 1, 1}, {7, 3, 1, 1}};
}
std::vector<Cpu> topology_b() {
  return {{0, 0, 0, 0}, {1, 0, 0, 0}, {2, 1, 0, 0}, {3, 1, 0, 0},
          {4, 2, 1, 1}, {5, 2, 1, 1}, {6, 3, 1, 1}, {7, 3, 1, 1}};
}
// Two CPUs per core, four per socket, eight per NUMA node.
std::vector<Cpu> topology_of(std::uint32_t cpus) {
  std::vector<Cpu> topology;
  for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) topology.push_back({cpu, cpu / 2, cpu / 4, cpu / 8});
  return topology;
}

std::string picked(std::size_t count, const std::vector<Cpu>& cpus) { return pick_cpus(count, cpus).list(); }

CpuSet cpus(std::string_view list) { return CpuSet::parse(list).value(); }

// Returns a node on which best-effort pods may use the whole threshold minus `others`.
Inputs node(std::uint32_t cpu_count, Policy policy, double others = 0) {
  Inputs inputs;
  inputs.policy = policy;
  inputs.threshold_percent = 100;
  inputs.capacity_milli = std::int64_t{cpu_count} * 1000;
  inputs.use.pods = others;
  inputs.pools.online = topology_of(cpu_count);
  inputs.targets = {{"besteffort"}, {}, {"besteffort/pod1/main", "besteffort/pod2/main"}, true};
  return inputs;
}

std::string value_of(const Round& round) { return round.intents.empty() ? "none" : round.intents[0].value; }

}  // namespace

TEST_CASE("the budget is the threshold's share of the node minus the usage of others") {
  Inputs inputs;
  inputs.capacity_milli = 20'000;
  inputs.threshold_percent = 70;
  const auto budget = [&](usage::Parts parts) {
    inputs.use = usage::split(parts);
    return budget_milli(inputs);
  };
  CHECK(budget({.node = 12, .pods = {{8, false}, {2, true}}}) == 4000);
  CHECK(budget({.node = 12, .pods = {{8, false}, {2, true}}, .applications = {{1, false}}}) == 4000);
  CHECK(budget({.node = 12, .pods = {{8, false}, {2, true}}, .applications = {{1, true}}}) == 5000);
  CHECK(budget({.node = 11, .pods = {{8, false}, {4, true}}}) == 6000);
  CHECK(budget({.node = 18, .pods = {{17, false}}}) == -4000);
  inputs.min_percent = 60;
  CHECK(budget({.node = 12, .pods = {{8, false}, {2, true}}}) == 12'000);
  CHECK(budget_milli(Inputs{}) == 0);
}

TEST_CASE("CPUs are picked as whole cores, one socket after the other") {
  CHECK(picked(3, topology_a()) == "0,2,4");
  CHECK(picked(3, topology_b()) == "0-1,4");
  CHECK(picked(4, topology_b()) == "0-1,4-5");
  CHECK(picked(7, topology_b()) == "0-6");
  CHECK(picked(8, topology_b()) == "0-7");
  CHECK(picked(5, topology_of(16)) == "0-1,4-5,8");
  std::vector<Cpu> reversed = topology_of(16);
  std::reverse(reversed.begin(), reversed.end());
  CHECK(picked(5, reversed) == "0-1,4-5,8");
}

TEST_CASE("if more CPUs are wanted than exist, all are picked; if none exist, none") {
  CHECK(picked(100, topology_a()) == "0-7");
  CHECK(pick_cpus(3, {}).empty());
  CHECK(pick_cpus(0, topology_a()).empty());
}

TEST_CASE("sockets and NUMA nodes with unusual numbers are distinguished") {
  // (node + n) · (socket + 1) is 6 for both, with n = 2.
  CHECK(picked(2, {{0, 0, 1, 1}, {1, 1, 0, 4}}) == "0-1");
  CHECK(picked(1, {{0, 0, 1, 1}, {1, 1, 0, 4}}) == "0");
}

TEST_CASE("CPUs of LSR pods are shared in proportion, those of LSE pods and reserved ones are not") {
  Inputs inputs = node(8, Policy::cpuset);
  inputs.pools = {topology_b(), cpus("0,6"), cpus("7")};
  inputs.capacity_milli = 3000;
  const auto chosen = [&](std::string_view reserved, std::size_t before) {
    inputs.pools.excluded = cpus("7") | cpus(reserved);
    Memory memory{.cpus = before};
    return value_of(plan(inputs, kAtOnce, memory));
  };
  CHECK(chosen("", 4) == "2-4");
  CHECK(chosen("", 2) == "2-4");
  CHECK(chosen("3", 4) == "0,4-5");
  CHECK(chosen("0-1,5-6", 4) == "2-4");
}

TEST_CASE("if fewer CPUs are usable than wanted, all usable ones are picked") {
  Inputs inputs = node(8, Policy::cpuset);
  inputs.pools = {topology_b(), cpus("0,6"), cpus("1-7")};
  Memory memory;
  CHECK(value_of(plan(inputs, kAtOnce, memory)) == "0");
}

TEST_CASE("if no CPU is usable there is a reason and no intent") {
  Inputs inputs = node(4, Policy::cpuset);
  inputs.pools.excluded = cpus("0-3");
  Memory memory;
  const Round round = plan(inputs, kAtOnce, memory);
  CHECK(round.intents.empty());
  CHECK(round.problem.find("no CPU is left") != std::string::npos);
}

TEST_CASE("best-effort pods keep two CPUs, and one on a node with less than four") {
  Memory memory;
  CHECK(value_of(plan(node(16, Policy::cpuset, 15.9), kAtOnce, memory)) == "0-1");
  memory = {};
  CHECK(value_of(plan(node(16, Policy::cpuset, 40), kAtOnce, memory)) == "0-1");
  memory = {};
  CHECK(value_of(plan(node(2, Policy::cpuset, 2), kAtOnce, memory)) == "0");
}

TEST_CASE("CPUs are removed at once and returned by a tenth of the node per round, rounded up") {
  Memory memory;
  CHECK(plan(node(16, Policy::cpuset, 10), kAtOnce, memory).granted_milli == 6000);
  CHECK(plan(node(16, Policy::cpuset, 13.5), kAtOnce, memory).granted_milli == 3000);
  CHECK(plan(node(16, Policy::cpuset, 4), kAtOnce, memory).granted_milli == 5000);
  CHECK(plan(node(16, Policy::cpuset, 4), kAtOnce, memory).granted_milli == 7000);
  CHECK(plan(node(16, Policy::cpuset, 7.5), kAtOnce, memory).granted_milli == 9000);
}

TEST_CASE("a CPU is added when half of it is available, and removed when none of it is") {
  Memory memory;
  CHECK(plan(node(16, Policy::cpuset, 12), kAtOnce, memory).granted_milli == 4000);
  CHECK(plan(node(16, Policy::cpuset, 11.6), kAtOnce, memory).granted_milli == 4000);
  CHECK(plan(node(16, Policy::cpuset, 11.5), kAtOnce, memory).granted_milli == 5000);
  CHECK(plan(node(16, Policy::cpuset, 11.9), kAtOnce, memory).granted_milli == 5000);
  CHECK(plan(node(16, Policy::cpuset, 12), kAtOnce, memory).granted_milli == 4000);
}

TEST_CASE("all CPUs need no intent") {
  Memory memory;
  const Round round = plan(node(16, Policy::cpuset), kAtOnce, memory);
  CHECK(round.intents.empty());
  CHECK(round.problem.empty());
  CHECK_FALSE(round.granted_milli);
}

TEST_CASE("if children cannot have CPUs that their parents lack, the class is confined, otherwise each container") {
  Inputs inputs = node(8, Policy::cpuset, 5);
  Memory memory;
  Round round = plan(inputs, kAtOnce, memory);
  REQUIRE(round.intents.size() == 1);
  CHECK(round.intents[0].level == KOORD_LEVEL_QOS);
  CHECK(round.intents[0].cgroup_dir == "besteffort");
  CHECK(round.intents[0].role == KOORD_ROLE_CAP);
  inputs.targets.cpus_of_parents = false;
  round = plan(inputs, kAtOnce, memory);
  REQUIRE(round.intents.size() == 2);
  CHECK(round.intents[1].level == KOORD_LEVEL_CONTAINER);
  CHECK(round.intents[1].cgroup_dir == "besteffort/pod2/main");
  CHECK(round.intents[1].value == "0-1,4");
}

TEST_CASE(
    "the quota follows the budget: down at once, up by a tenth of the node per round, and not for changes below a hundredth") {
  const auto quota = [](double budget, std::optional<double> before) {
    Inputs inputs = node(80, Policy::cfs_quota, 80 - budget);
    Memory memory;
    if (before) memory.quota_us = static_cast<std::int64_t>(*before * 100'000);
    return value_of(plan(inputs, kAtOnce, memory));
  };
  CHECK(quota(20, 10) == "1800000 100000");
  CHECK(quota(20, 19) == "2000000 100000");
  CHECK(quota(20, 24) == "2000000 100000");
  CHECK(quota(20, 19.8) == "1980000 100000");
  CHECK(quota(20, std::nullopt) == "2000000 100000");
  CHECK(quota(-3, 0.8) == "2000 100000");
  CHECK(quota(0.001, 0.8) == "2000 100000");
  CHECK(quota(80, 79) == "none");
}

TEST_CASE("pods outside of the class get equal parts of the quota and the same CPUs") {
  Inputs inputs = node(8, Policy::cfs_quota, 2);
  inputs.targets.pods = {"batch/a", "batch/b"};
  Memory memory;
  const Round quota = plan(inputs, kAtOnce, memory);
  REQUIRE(quota.intents.size() == 3);
  for (const strategy::Intent& intent : quota.intents) CHECK(intent.value == "200000 100000");
  for (const strategy::Intent& intent : quota.intents) CHECK(intent.role == KOORD_ROLE_CAP);
  CHECK(quota.intents[2].level == KOORD_LEVEL_POD);
  CHECK(quota.intents[2].cgroup_dir == "batch/b");
  inputs.policy = Policy::cpuset;
  CHECK(plan(inputs, kAtOnce, memory).intents.size() == 3);
}

TEST_CASE("cpuIdle is proposed under any load") {
  Memory memory;
  const Round round = plan(node(8, Policy::cpu_idle), kAtOnce, memory);
  REQUIRE(round.intents.size() == 1);
  CHECK(round.intents[0].knob == "cpu.idle");
  CHECK(round.intents[0].role == KOORD_ROLE_SET);
  CHECK(round.intents[0].value == "1");
  CHECK(round.intents[0].cgroup_dir == "besteffort");
}

TEST_CASE("another policy starts from its own value, without steps from the previous one") {
  Memory memory;
  plan(node(16, Policy::cpuset, 14), kAtOnce, memory);
  plan(node(16, Policy::cfs_quota, 14), kAtOnce, memory);
  CHECK_FALSE(memory.cpus);
  CHECK(plan(node(16, Policy::cpuset, 6), kAtOnce, memory).granted_milli == 10'000);
}

TEST_CASE("more is given only when there was room for it during the whole hold") {
  const Settings settings{.hold_ns = 10 * kSecond};
  Memory memory;
  const auto granted = [&](std::uint64_t second, double others) {
    Inputs inputs = node(16, Policy::cpuset, others);
    inputs.now_ns = second * kSecond;
    return plan(inputs, settings, memory).granted_milli.value_or(0);
  };
  CHECK(granted(0, 10) == 6000);
  CHECK(granted(1, 12.5) == 4000);
  CHECK(granted(2, 10) == 4000);
  CHECK(granted(10, 8) == 4000);
  CHECK(granted(11, 8) == 6000);
  CHECK(granted(12, 8) == 8000);
}

TEST_CASE("an intent states for an operator the reason and the input values") {
  Inputs inputs = node(8, Policy::cfs_quota, 3.25);
  inputs.threshold_percent = 65;
  inputs.min_percent = 10;
  inputs.use.system = 0.5;
  Memory memory;
  const Round round = plan(inputs, kAtOnce, memory);
  REQUIRE(round.intents.size() == 1);
  CHECK(
      round.intents[0].reason ==
      "others than best-effort pods use 3.75 cores; 65 % of 8.00 leave 1.45: best-effort pods get 1.45 cores of time");
  CHECK(round.intents[0].inputs == strategy::Inputs{{"policy", "cfsQuota"},
                                                    {"capacity", "8.00"},
                                                    {"threshold_percent", "65"},
                                                    {"other_pods", "3.25"},
                                                    {"host_applications", "0.00"},
                                                    {"system", "0.50"},
                                                    {"best_effort", "0.00"},
                                                    {"budget", "1.45"},
                                                    {"least_budget_held", "1.45"},
                                                    {"min_percent", "10"}});
}
