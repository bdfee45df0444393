// SPDX-License-Identifier: Apache-2.0
#include "core/state/topology.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_nodes.hpp"

using namespace koord;
using namespace koord::state;
using koord::test::FakeNode;
using koord::test::lay_out;

namespace {

const std::string kCpu = "sys/devices/system/cpu";
const std::string kNode = "sys/devices/system/node";

void add_cpu(FakeNode& node, int cpu, const char* core_cpus, const char* socket, const char* l3) {
  std::string dir = kCpu + "/cpu" + std::to_string(cpu);
  node.write(dir + "/topology/core_cpus_list", core_cpus);
  node.write(dir + "/topology/physical_package_id", socket);
  node.write(dir + "/cache/index0/level", "1\n");
  node.write(dir + "/cache/index3/level", "3\n");
  node.write(dir + "/cache/index3/id", l3);
}

// Writes two sockets with two cores each; cores of the first socket have two threads. CPU 5 is offline.
void make_two_sockets(FakeNode& node) {
  node.write(kCpu + "/online", "0-4\n");
  node.write(kCpu + "/present", "0-5\n");
  add_cpu(node, 0, "0,2\n", "0\n", "0\n");
  add_cpu(node, 1, "1,3\n", "0\n", "0\n");
  add_cpu(node, 2, "0,2\n", "0\n", "0\n");
  add_cpu(node, 3, "1,3\n", "0\n", "0\n");
  add_cpu(node, 4, "4\n", "1\n", "8\n");
  node.write(kNode + "/online", "0-1\n");
  node.write(kNode + "/node0/cpulist", "0-3\n");
  node.write(kNode + "/node0/meminfo", "Node 0 MemTotal:       1024 kB\nNode 0 MemFree: 1 kB\n");
  node.write(kNode + "/node1/cpulist", "4\n");
  node.write(kNode + "/node1/meminfo", "Node 1 MemTotal:       2048 kB\n");
}

Topology topology_of(const koord::test::Machine& machine) {
  FakeNode node;
  lay_out(node, machine);
  return *read_topology(node.roots());
}

std::vector<std::int32_t> each(const Topology& topology, std::int32_t Cpu::*what) {
  std::vector<std::int32_t> values;
  for (const Cpu& cpu : topology.cpus) values.push_back(cpu.*what);
  return values;
}

using Ids = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("a CPU has its core, socket, memory node and L3 cache") {
  FakeNode node;
  make_two_sockets(node);
  Topology topology = *read_topology(node.roots());
  REQUIRE(topology.cpus.size() == 6);
  CHECK(topology.cpus[2] == Cpu{2, 0, 0, 0, 0, true, false});
  CHECK(topology.cpus[3] == Cpu{3, 1, 0, 0, 0, true, false});
  CHECK(topology.cpus[4] == Cpu{4, 2, 1, 1, 8, true, false});
}

TEST_CASE("an offline CPU is listed without the facts of online CPUs") {
  FakeNode node;
  make_two_sockets(node);
  CHECK(read_topology(node.roots())->cpus[5] == Cpu{5, -1, -1, -1, -1, false, false});
}

TEST_CASE("memory nodes have their bytes") {
  FakeNode node;
  make_two_sockets(node);
  CHECK(read_topology(node.roots())->numa_nodes == std::vector<NumaNode>{{0, 1048576}, {1, 2097152}});
}

TEST_CASE("reserved CPUs are marked") {
  FakeNode node;
  make_two_sockets(node);
  Topology topology = *read_topology(node.roots(), *CpuSet::parse("1,3"));
  CHECK(topology.cpus[1].reserved);
  CHECK_FALSE(topology.cpus[2].reserved);
}

TEST_CASE("a CPU taken offline changes the topology") {
  FakeNode node;
  make_two_sockets(node);
  Topology before = *read_topology(node.roots());
  node.write(kCpu + "/online", "0-3\n");
  Topology after = *read_topology(node.roots());
  CHECK(before != after);
  CHECK_FALSE(after.cpus[4].online);
}

TEST_CASE("a cache without an id is known by its first CPU") {
  FakeNode node;
  make_two_sockets(node);
  node.remove(kCpu + "/cpu4/cache/index3/id");
  node.write(kCpu + "/cpu4/cache/index3/shared_cpu_list", "4\n");
  CHECK(read_topology(node.roots())->cpus[4].l3 == 4);
}

TEST_CASE("a kernel without NUMA has one memory node with all memory") {
  FakeNode node({{"sys/devices/system/cpu/online", "0\n"}, {"proc/meminfo", "MemTotal:  4 kB\nMemFree: 1 kB\n"}});
  Topology topology = *read_topology(node.roots());
  CHECK(topology.numa_nodes == std::vector<NumaNode>{{0, 4096}});
  CHECK(topology.cpus == std::vector<Cpu>{{0, -1, -1, 0, -1, true, false}});
}

TEST_CASE("without a list of online CPUs there is no topology") {
  FakeNode node;
  CHECK_FALSE(read_topology(node.roots()));
  node.write(kCpu + "/online", "junk\n");
  CHECK(read_topology(node.roots()).error().message().ends_with("'junk' is not an unsigned integer"));
  node.write(kCpu + "/online", "\n");
  CHECK_FALSE(read_topology(node.roots()));
}

TEST_CASE("two sockets with hyper-threads: the second threads share cores with the first") {
  const Topology topology = topology_of(koord::test::two_sockets_with_threads());
  CHECK(each(topology, &Cpu::core) == Ids{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(each(topology, &Cpu::socket) == Ids{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(each(topology, &Cpu::l3) == each(topology, &Cpu::socket));
  CHECK(each(topology, &Cpu::numa_node) == each(topology, &Cpu::socket));
}

TEST_CASE("hyper-threads off: each CPU is a core") {
  CHECK(each(topology_of(koord::test::hyper_threads_off()), &Cpu::core) == Ids{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("CPUs taken offline keep only their memory node, and the other CPUs keep their place") {
  const Topology topology = topology_of(without_cpus(koord::test::two_sockets_with_threads(), {3, 12}));
  CHECK(topology.cpus[3] == Cpu{3, -1, -1, 0, -1, false, false});
  CHECK(topology.cpus[12] == Cpu{12, -1, -1, 1, -1, false, false});
  CHECK(topology.cpus[4].socket == 1);
  CHECK(topology.cpus[11].core >= 0);
}

TEST_CASE("CPUs that come back have their place again") {
  FakeNode node;
  lay_out(node, koord::test::two_sockets_with_threads());
  const Topology before = *read_topology(node.roots());
  lay_out(node, without_cpus(koord::test::two_sockets_with_threads(), {0, 8}));
  CHECK(*read_topology(node.roots()) != before);
  lay_out(node, koord::test::two_sockets_with_threads());
  CHECK(*read_topology(node.roots()) == before);
}

TEST_CASE("one socket cut into four memory nodes") {
  const Topology topology = topology_of(koord::test::four_numa_nodes());
  CHECK(topology.numa_nodes.size() == 4);
  CHECK(each(topology, &Cpu::numa_node) == Ids{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3});
  CHECK(each(topology, &Cpu::socket) == Ids(16, 0));
}

TEST_CASE("without NUMA all CPUs are of node 0, which has the machine's memory") {
  const Topology topology = topology_of(koord::test::without_numa());
  CHECK(each(topology, &Cpu::numa_node) == Ids(4, 0));
  CHECK(topology.numa_nodes == std::vector<NumaNode>{{0, std::int64_t{16} << 30}});
}

TEST_CASE("arm64: sockets by the firmware's numbers, caches by their first CPU") {
  const Topology topology = topology_of(koord::test::arm64_with_64k_pages());
  CHECK(each(topology, &Cpu::socket) == Ids{36, 36, 36, 36, 3180, 3180, 3180, 3180});
  CHECK(each(topology, &Cpu::l3) == Ids{0, 0, 0, 0, 4, 4, 4, 4});
  CHECK(topology.numa_nodes[1].memory_bytes == std::int64_t{16} << 30);
}

TEST_CASE("a socket without an id is known by its first CPU") {
  FakeNode node;
  lay_out(node, koord::test::hyper_threads_off());
  for (int cpu = 0; cpu < 8; ++cpu)
    node.write(kCpu + "/cpu" + std::to_string(cpu) + "/topology/physical_package_id", "-1\n");
  CHECK(each(*read_topology(node.roots()), &Cpu::socket) == Ids{0, 0, 0, 0, 4, 4, 4, 4});
}

TEST_CASE("an accelerator's memory node is left out, unless it has CPUs or memory") {
  FakeNode node;
  lay_out(node, koord::test::with_generic_initiator());
  CHECK(read_topology(node.roots())->numa_nodes.size() == 2);
  node.write(kNode + "/node2/meminfo", "Node 2 MemTotal: 4 kB\n");
  CHECK(read_topology(node.roots())->numa_nodes.size() == 3);
}

TEST_CASE("this machine has a CPU online and memory") {
  Topology topology = *read_topology(NodeRoots());
  CHECK(topology.cpus.front().online);
  CHECK(topology.numa_nodes.front().memory_bytes > 0);
}
