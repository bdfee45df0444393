// SPDX-License-Identifier: Apache-2.0
// koordlet's tables of CPU suppression: the budget, the quota, and the selected CPUs.
#include <algorithm>

#include "plugins/qos-cpu-suppress/cpu_suppress.hpp"
#include "test/composed/koordlet_table.hpp"

using namespace koord;
using namespace koord::cpu_suppress;
using koord::test::check_row;
using koord::test::Expected;

namespace {

constexpr Settings kWithoutHold{.hold_ns = 0};  // koordlet increases a budget immediately, too
constexpr const char* kReadme = "qos-cpu-suppress/README.md";

// CPU : core : socket : NUMA node
std::vector<Cpu> topology_a() {
  return {{0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 1, 1}, {3, 3, 1, 1},
          {4, 0, 0, 0}, {5, 1, 0, 0}, {6, 2, 1, 1}, {7, 3, 1, 1}};
}
std::vector<Cpu> topology_b() {
  return {{0, 0, 0, 0}, {1, 0, 0, 0}, {2, 1, 0, 0}, {3, 1, 0, 0},
          {4, 2, 1, 1}, {5, 2, 1, 1}, {6, 3, 1, 1}, {7, 3, 1, 1}};
}
std::vector<Cpu> topology_c() {
  std::vector<Cpu> topology;
  for (std::uint32_t cpu = 0; cpu < 16; ++cpu) topology.push_back({cpu, cpu / 2, cpu / 4, cpu / 8});
  return topology;
}

std::string picked(std::size_t count, const std::vector<Cpu>& cpus) { return pick_cpus(count, cpus).list(); }

Inputs inputs_of(std::int64_t cores, Policy policy) {
  Inputs inputs;
  inputs.policy = policy;
  inputs.threshold_percent = 100;
  inputs.capacity_milli = cores * 1000;
  for (std::uint32_t cpu = 0; cpu < cores; ++cpu) inputs.pools.online.push_back({cpu, cpu / 2, 0, 0});
  inputs.targets = {{"besteffort"}, {}, {"besteffort/pod/main"}, true};
  return inputs;
}

// Returns the value of the first knob, without the period of a quota; "unchanged" if no knob is proposed.
std::string proposed(const Inputs& inputs, Memory memory) {
  const auto round = plan(inputs, kWithoutHold, memory);
  return round.intents.empty() ? "unchanged" : round.intents[0].value.substr(0, round.intents[0].value.find(' '));
}

}  // namespace

TEST_CASE("koordlet's table: the budget of best-effort pods") {
  struct Row {
    const char* name;
    usage::Parts parts;
    std::optional<std::int64_t> min_percent;
    Expected<std::int64_t> milli;
  };
  const Row rows[] = {
      {"node 12, LS pod 8, BE pod 2", {.node = 12, .pods = {{8, false}, {2, true}}}, {}, 4000},
      {"an LS host application of 1",
       {.node = 12, .pods = {{8, false}, {2, true}}, .applications = {{1, false}}},
       {},
       4000},
      {"a BE host application of 1",
       {.node = 12, .pods = {{8, false}, {2, true}}, .applications = {{1, true}}},
       {},
       5000},
      {"node 11, an unknown pod 8, BE pod 4", {.node = 11, .pods = {{8, false}, {4, true}}}, {}, 6000},
      {"at least 60 percent", {.node = 12, .pods = {{8, false}, {2, true}}}, 60, 12'000},
  };
  for (const Row& row : rows) {
    Inputs inputs;
    inputs.capacity_milli = 20'000;
    inputs.threshold_percent = 70;
    inputs.min_percent = row.min_percent;
    inputs.use = usage::split(row.parts);
    check_row(row.name, budget_milli(inputs), row.milli);
  }
  check_row("an empty node", budget_milli(Inputs{}), Expected<std::int64_t>(0));
}

TEST_CASE("koordlet's table: the quota of 80 CPUs") {
  struct Row {
    const char* name;
    double budget;
    std::optional<double> current;
    Expected<std::string> quota;
  };
  const Row rows[] = {
      {"10 cores now: a tenth of the node more", 20, 10, std::string("1800000")},
      {"19 cores now", 20, 19, std::string("2000000")},
      {"24 cores now", 20, 24, std::string("2000000")},
      // koordlet skips the write. Here the intent repeats the current value, which the host does not write either.
      {"19.8 cores now: less than a hundredth of the node", 20, 19.8, std::string("1980000")},
      {"no quota now", 20, {}, std::string("2000000")},
      {"almost no budget", 0.001, 0.8, std::string("2000")},
  };
  for (const Row& row : rows) {
    Inputs inputs = inputs_of(80, Policy::cfs_quota);
    inputs.use.pods = 80 - row.budget;
    Memory memory;
    if (row.current) memory.quota_us = static_cast<std::int64_t>(*row.current * 100'000);
    check_row(row.name, proposed(inputs, memory), row.quota);
  }
}

TEST_CASE("koordlet's table: which CPUs are selected") {
  CHECK(picked(3, topology_a()) == "0,2,4");
  CHECK(picked(3, topology_b()) == "0-1,4");
  CHECK(picked(4, topology_b()) == "0-1,4-5");
  CHECK(picked(7, topology_b()) == "0-6");
  CHECK(picked(5, topology_c()) == "0-1,4-5,8");
  std::vector<Cpu> reversed = topology_c();
  std::reverse(reversed.begin(), reversed.end());
  CHECK(picked(5, reversed) == "0-1,4-5,8");
  CHECK(picked(3, {}).empty());
}

TEST_CASE("koordlet's table: all steps to a set of CPUs, LSR pods on 0 and 6, an LSE pod on 7") {
  struct Row {
    const char *name, *reserved;
    std::size_t before;
    Expected<std::string> set;
  };
  const Row rows[] = {
      {"4 CPUs before", "", 4, std::string("2-4")},
      {"2 CPUs before", "", 2, std::string("2-4")},
      {"CPU 3 is reserved", "3", 4, std::string("0,4-5")},
      {"only CPU 0 is left",
       "1-6",
       4,
       {"unchanged", "0", {kReadme, "the rest is used if it is less than the minimum"}}},
      {"0-1 and 5-6 are reserved", "0-1,5-6", 4, std::string("2-4")},
  };
  for (const Row& row : rows) {
    Inputs inputs = inputs_of(3, Policy::cpuset);
    inputs.pools = {topology_b(), CpuSet::parse("0,6").value(), CpuSet::parse("7").value()};
    if (*row.reserved) inputs.pools.excluded = inputs.pools.excluded | CpuSet::parse(row.reserved).value();
    check_row(row.name, proposed(inputs, {.cpus = row.before}), row.set);
  }
}

TEST_CASE("koordlet's table: nodes with few CPUs, and with no usable CPU") {
  Inputs two = inputs_of(2, Policy::cpuset);
  two.use.pods = 2;
  check_row("two CPUs, none to spare", proposed(two, {}),
            Expected<std::string>("0-1", "0", {kReadme, "a node of 2 or 3 CPUs: the minimum of 2"}));
  Inputs none = inputs_of(4, Policy::cpuset);
  none.pools.excluded = CpuSet::parse("0-3").value();
  check_row("each CPU is reserved", proposed(none, {}),
            Expected<std::string>("division by zero", "unchanged",
                                  {kReadme, "all CPUs LSE's or reserved: division by zero"}));
}
