// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-node-resource/node_resource.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_topology.hpp"

using namespace koord::node_resource;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

constexpr const char* kMeminfo = "MemTotal: 1000 kB\nMemAvailable: 400 kB\n";

constexpr std::uint64_t kSecond = 1'000'000'000;

CpuTicks ticks(std::int64_t node, std::map<std::uint32_t, std::int64_t> per_cpu = {}) {
  return {node, std::move(per_cpu)};
}

}  // namespace

TEST_CASE("busy ticks are user, nice, system, irq and softirq, not idle, iowait, steal or guest") {
  auto parsed =
      parse_stat("cpu  1 2 4 100 200 8 16 400 800 900\ncpu0 1 0 0 5 0 0 0 0 0 0\ncpu7 0 0 3 5 0 0 0 0 0 0\nintr 5\n");
  REQUIRE(parsed);
  CHECK(parsed->node == 31);
  CHECK(parsed->per_cpu == std::map<std::uint32_t, std::int64_t>{{0, 1}, {7, 3}});
}

TEST_CASE("a stat file that is empty, truncated or without numbers is refused with the reason") {
  CHECK(parse_stat("").error().message() == "/proc/stat has no line 'cpu'");
  CHECK(parse_stat("cpu  1 2 3\n").error().message() == "a cpu line of /proc/stat has fewer than 7 columns");
  CHECK(parse_stat("cpu  1 2 x 4 5 6 7\n").error().message() == "'x' is not an integer");
  CHECK_FALSE(parse_stat("cpux 1 2 3 4 5 6 7\n"));
}

TEST_CASE("used memory is total minus available") {
  CHECK(*parse_used_memory("MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    400 kB\n") == 600 * 1024);
  CHECK(*parse_used_memory("MemTotal: 10 kB\nMemAvailable: 40 kB\n") == 0);
  CHECK(parse_used_memory("MemTotal: 10 kB\n").error().text == "no line 'MemAvailable' in meminfo");
}

TEST_CASE("used memory of a NUMA node excludes free memory, file pages and reclaimable slab") {
  constexpr std::string_view text =
      "Node 1 MemTotal:        1000 kB\nNode 1 MemFree:          100 kB\nNode 1 MemUsed:          900 kB\n"
      "Node 1 Active:           900 kB\nNode 1 Active(file):      50 kB\nNode 1 Inactive(file):    30 kB\n"
      "Node 1 KReclaimable:      99 kB\nNode 1 SReclaimable:      20 kB\n";
  CHECK(*parse_numa_used_memory(text) == 800 * 1024);
  CHECK(parse_numa_used_memory("Node 0 MemTotal: 1 kB\n").error().text == "no line 'MemFree' in meminfo");
}

TEST_CASE("cores are busy ticks divided by elapsed time") {
  CpuSampler sampler(100, 20 * kSecond);
  CHECK_FALSE(sampler.sample(ticks(1000), kSecond, {}).node_cores);
  CHECK(*sampler.sample(ticks(1150), 2 * kSecond, {}).node_cores == doctest::Approx(1.5));
}

TEST_CASE("NUMA cores are sums over the CPUs of the node") {
  CpuSampler sampler(100, 20 * kSecond);
  std::map<std::uint32_t, std::uint32_t> numa{{0, 0}, {1, 0}, {2, 1}};
  sampler.sample(ticks(0, {{0, 0}, {1, 0}, {2, 0}, {9, 0}}), kSecond, numa);
  CpuUsage usage = sampler.sample(ticks(220, {{0, 50}, {1, 100}, {2, 20}, {9, 50}}), 2 * kSecond, numa);
  CHECK(usage.numa_cores.size() == 2);
  CHECK(usage.numa_cores.at(0) == doctest::Approx(1.5));
  CHECK(usage.numa_cores.at(1) == doctest::Approx(0.2));
}

TEST_CASE("a CPU that is back online has no rate at first") {
  CpuSampler sampler(100, 20 * kSecond);
  std::map<std::uint32_t, std::uint32_t> numa{{0, 0}};
  sampler.sample(ticks(0, {{0, 0}}), kSecond, numa);
  sampler.sample(ticks(0), 2 * kSecond, numa);
  CHECK(sampler.sample(ticks(50, {{0, 50}}), 3 * kSecond, numa).numa_cores.empty());
  CHECK(sampler.sample(ticks(90, {{0, 90}}), 4 * kSecond, numa).numa_cores.at(0) == doctest::Approx(0.4));
}

TEST_CASE("after a suspend of ten minutes there is no rate for one tick") {
  CpuSampler sampler(100, 20 * kSecond);
  sampler.sample(ticks(100), kSecond, {});
  CHECK_FALSE(sampler.sample(ticks(200), 601 * kSecond, {}).node_cores);
  CHECK(sampler.sample(ticks(300), 602 * kSecond, {}).node_cores == doctest::Approx(1.0));
}

TEST_CASE("the plugin sends memory with the first tick and CPU with the second") {
  FakeNode node(
      {{"cgroup/cgroup.controllers", "cpu"}, {"proc/stat", "cpu 100 0 0 0 0 0 0\n"}, {"proc/meminfo", kMeminfo}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_memory_usage") == 600.0 * 1024);
  CHECK_FALSE(host.value("node_cpu_usage"));
  host.clock().advance(2s);
  node.write("proc/stat", "cpu 400 0 0 0 0 0 0\n");
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_cpu_usage").value() == doctest::Approx(1.5));
}

TEST_CASE("the plugin sends each NUMA node's memory under its own id") {
  constexpr const char* kNuma = "Node 3 MemTotal: 10 kB\nNode 3 MemFree: 1 kB\nNode 3 Active(file): 1 kB\n"
                                "Node 3 Inactive(file): 1 kB\nNode 3 SReclaimable: 1 kB\n";
  FakeNode node({{"cgroup/cgroup.controllers", "cpu"},
                 {"proc/stat", "cpu 1 0 0 0 0 0 0\n"},
                 {"proc/meminfo", kMeminfo},
                 {"sys/bus/node/devices/node3/meminfo", kNuma}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_numa_memory_usage", {{"numa_node_id", "3"}}) == 6.0 * 1024);
}

TEST_CASE("recorded machines have the memory of each of their NUMA nodes, except an accelerator's") {
  using namespace koord::test;
  const std::vector<std::pair<Machine, std::size_t>> machines = {{two_sockets_with_threads(), 2},
                                                                 {four_numa_nodes(), 4},
                                                                 {without_numa(), 0},
                                                                 {arm64_with_64k_pages(), 2},
                                                                 {with_generic_initiator(), 2}};
  for (const auto& machine : machines) {
    FakeNode node({{"cgroup/cgroup.controllers", "cpu"}, {"proc/stat", "cpu 1 0 0 0 0 0 0\n"}});
    lay_out(node, machine.first);
    FakeHost host(node);
    publish_topology(host, node);
    FakeInstance advisor(host, koord_entry_v1());
    REQUIRE(advisor.init() == KOORD_OK);
    CHECK(advisor.collect() == KOORD_OK);
    CHECK(host.series("node_numa_memory_usage").size() == machine.second);
  }
}

TEST_CASE("CPU time of an offline CPU counts for no NUMA node, and that of other CPUs counts for their node") {
  using namespace koord::test;
  FakeNode node({{"cgroup/cgroup.controllers", "cpu"},
                 {"proc/stat", "cpu 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0\ncpu4 0 0 0 0 0 0 0\n"}});
  lay_out(node, without_cpus(two_sockets_with_threads(), {3, 7}));
  FakeHost host(node);
  publish_topology(host, node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  host.clock().advance(1s);
  node.write("proc/stat", "cpu 75 0 0 0 0 0 0\ncpu0 50 0 0 0 0 0 0\ncpu4 25 0 0 0 0 0 0\n");
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_numa_cpu_usage", {{"numa_node_id", "0"}}).value() == doctest::Approx(0.5));
  CHECK(host.value("node_numa_cpu_usage", {{"numa_node_id", "1"}}).value() == doctest::Approx(0.25));
}

TEST_CASE("a memory node that is hot-plugged is measured from then on") {
  using namespace koord::test;
  FakeNode node({{"cgroup/cgroup.controllers", "cpu"}, {"proc/stat", "cpu 1 0 0 0 0 0 0\n"}});
  lay_out(node, hyper_threads_off());
  FakeHost host(node);
  publish_topology(host, node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.series("node_numa_memory_usage").size() == 2);
  lay_out(node, four_numa_nodes());
  publish_topology(host, node);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.series("node_numa_memory_usage").size() == 4);
}

TEST_CASE("an invalid stat file fails the tick with its reason, but memory is sent") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu"}, {"proc/stat", "intr 1\n"}, {"proc/meminfo", kMeminfo}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_E_IO);
  CHECK(advisor.why() == "/proc/stat has no line 'cpu'");
  CHECK(host.value("node_memory_usage") == 600.0 * 1024);
}

TEST_CASE("without /proc/stat the plugin does not start, and the error names the missing file") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu"}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_IO);
  CHECK(advisor.why().find("/proc/stat': No such file or directory") != std::string::npos);
}
