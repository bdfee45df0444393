// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-node-info/node_info.hpp"

#include <doctest/doctest.h>

#include "plugins/advisor-node-info/node_files.hpp"
#include "test/support/fake_topology.hpp"

using namespace koord::node_info;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using koord::test::lay_out;
using koord::test::publish_topology;

namespace {

std::string fact(FakeHost& host, const std::string& key) {
  const auto bytes = host.store().get("test/" + key);
  if (!bytes) return "";
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A machine, its agent, and the plugin after one round.
struct NodeInfoFixture {
  explicit NodeInfoFixture(const koord::test::Machine& machine) {
    lay_out(node, machine);
    publish_topology(host, node);
    REQUIRE(advisor.init() == KOORD_OK);
    REQUIRE(advisor.collect() == KOORD_OK);
  }
  std::optional<double> info(const koord::metric::Labels& labels) const { return host.value("node_cpu_info", labels); }

  FakeNode node;
  FakeHost host{node};
  FakeInstance advisor{host, koord_entry_v1()};
};

}  // namespace

TEST_CASE("x86 has its model and vendor") {
  constexpr std::string_view text =
      "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7B13\n\n"
      "processor\t: 1\nvendor_id\t: other\nmodel name\t: other\n";
  CHECK(parse_cpuinfo(text) == CpuModel{"AMD EPYC 7B13", "AuthenticAMD"});
}

TEST_CASE("arm64 only has numbers, which are replaced by known names of server CPUs") {
  CHECK(parse_cpuinfo("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n") == CpuModel{"Neoverse-N1", "ARM"});
  CHECK(parse_cpuinfo("CPU implementer\t: 0x48\nCPU part\t: 0xd01\n") == CpuModel{"Kunpeng-920", "HiSilicon"});
  CHECK(parse_cpuinfo("CPU implementer\t: 0x41\nCPU part\t: 0xfff\n") == CpuModel{"part 0xfff", "ARM"});
  CHECK(parse_cpuinfo("CPU implementer\t: 0x99\nCPU part\t: 0x1\n") == CpuModel{"part 0x1", "0x99"});
}

TEST_CASE("POWER has its model in the key cpu") {
  CHECK(parse_cpuinfo("processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t: 3.8GHz\n").model ==
        "POWER9, altivec supported");
}

TEST_CASE("a cpuinfo without a CPU name gives no model") {
  CHECK(parse_cpuinfo("") == CpuModel{});
  CHECK(parse_cpuinfo("processor : 0\nmodel : 85\nmodel name\n:\n") == CpuModel{});
}

TEST_CASE("meminfo has the same format for the machine and for a memory node") {
  const Meminfo machine = parse_meminfo("MemTotal:  5 kB\nActive(file):  3 kB\nHugePages_Total:   2\n");
  CHECK(machine == Meminfo{{"MemTotal", 5}, {"Active(file)", 3}, {"HugePages_Total", 2}});
  CHECK(parse_meminfo("Node 3 MemTotal:  5 kB\nNode 3 Active(file):  3 kB\nNode 3 HugePages_Total:   2\n") == machine);
  CHECK(parse_meminfo("MemTotal: x kB\nMemFree\n: 5\n\n").empty());
}

TEST_CASE("huge pages are named by their size") {
  CHECK(parse_hugepages_name("hugepages-2048kB") == 2048);
  CHECK(parse_hugepages_name("hugepages-16777216kB") == 16777216);
  CHECK_FALSE(parse_hugepages_name("hugepages-kB"));
  CHECK_FALSE(parse_hugepages_name("hugepages-2MB"));
  CHECK(page_size_name(2048) == "2Mi");
  CHECK(page_size_name(1048576) == "1Gi");
  CHECK(page_size_name(524288) == "512Mi");
  CHECK(page_size_name(64) == "64Ki");
}

TEST_CASE("sockets are numbered by their first CPU, and a CPU without a core gets its own core") {
  std::vector<Processor> processors = {{.cpu = 0, .core = 0, .socket = 36},
                                       {.cpu = 1, .core = -1, .socket = 3180},
                                       {.cpu = 2, .core = -1, .socket = 36}};
  number_sockets_and_cores(processors);
  CHECK(processors == std::vector<Processor>{{.cpu = 0}, {.cpu = 1, .core = 1, .socket = 1}, {.cpu = 2, .core = 2}});
}

TEST_CASE("hardware threads are on if the kernel reports it, or else if a core has two") {
  const std::vector<Processor> two_threads = {{.cpu = 0, .core = 0}, {.cpu = 1, .core = 0}};
  CHECK(has_threads({.smt = true, .processors = {{.cpu = 0}}}));
  CHECK_FALSE(has_threads({.smt = false, .processors = two_threads}));
  CHECK(has_threads({.processors = two_threads}));
}

TEST_CASE("node_cpu_info has koordlet's structure") {
  const CpuFacts facts{.model = {"M", "V"},
                       .smt = false,
                       .turbo = true,
                       .l3_mask = "7ff",
                       .processors = {{.cpu = 4, .core = 2, .socket = 1, .numa_node = 1, .l1d = 3, .l3 = 8}}};
  const std::string cpu = R"({"cpu":4,"core":2,"socket":1,"node":1,"l1dl1il2":"3","l3":8,"online":"yes"})";
  CHECK(
      cpu_info_json(facts) ==
      R"({"basicInfo":{"cpuModel":"M","hyperThreadEnabled":false,"turboEnabled":true,"catL3CbmMask":"7ff","vendorID":"V"},)"
      R"("processorInfos":[)" +
          cpu + R"(],"totalInfo":{"numberCPUs":1,"coreToCPU":{"2":[)" + cpu + R"(]},"nodeToCPU":{"1":[)" + cpu +
          R"(]},"socketToCPU":{"1":[)" + cpu + R"(]},"l3ToCPU":{"8":[)" + cpu + "]}}}");
}

TEST_CASE("node_numa_info has koordlet's structure, without values unknown to the kernel") {
  const std::string meminfo = R"({"mem_total":9,"s_unclaim":2})", pages = R"({"2048":{"numPages":4,"pageSize":2048}})";
  CHECK(numa_info_json({{.id = 1,
                         .meminfo = {{"MemTotal", 9}, {"SUnreclaim", 2}, {"KReclaimable", 1}},
                         .huge_pages = {{2048, 4, 1}}}}) ==
        R"({"numaInfos":[{"numaNodeID":1,"memInfo":)" + meminfo + R"(,"hugePages":)" + pages +
            R"(}],"memInfoMap":{"1":)" + meminfo + R"(},"hugePagesMap":{"1":)" + pages + "}}");
}

TEST_CASE("turbo is the value of intel_pstate or of cpufreq's boost, else unknown") {
  FakeNode node;
  CHECK_FALSE(read_cpu_facts(node.roots(), {}).turbo);
  node.write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  CHECK(read_cpu_facts(node.roots(), {}).turbo == true);
  node.write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  CHECK(read_cpu_facts(node.roots(), {}).turbo == false);
}

TEST_CASE("the L3 mask is that of data if code and data have separate masks") {
  FakeNode node({{"resctrl/info/L3DATA/cbm_mask", "3ff\n"}, {"resctrl/info/L3CODE/cbm_mask", "3fe\n"}});
  CHECK(read_cpu_facts(node.roots(), {}).l3_mask == "3ff");
  node.write("resctrl/info/L3/cbm_mask", "7ff\n");
  CHECK(read_cpu_facts(node.roots(), {}).l3_mask == "7ff");
}

TEST_CASE("two sockets with hyper-threads") {
  NodeInfoFixture fixture(koord::test::two_sockets_with_threads());
  CHECK(fixture.info(
            {{"sockets", "2"}, {"cores", "8"}, {"cpus", "16"}, {"threads_per_core", "2"}, {"turbo", "unknown"}}) ==
        1.0);
  CHECK(fixture.info({{"model", "Intel(R) Xeon(R) Platinum 8369B CPU @ 2.70GHz"}, {"vendor", "GenuineIntel"}}) == 1.0);
  const std::string cpus = fact(fixture.host, "node_cpu_info");
  CHECK(contains(cpus, R"("hyperThreadEnabled":true)"));
  CHECK(contains(cpus, R"({"cpu":12,"core":4,"socket":1,"node":1,"l1dl1il2":"4","l3":1,"online":"yes"})"));
  CHECK(fixture.host.value("node_numa_memory_total_bytes", {{"numa_node_id", "1"}}) == 16.0 * (1u << 30));
  CHECK(fixture.host.value("node_hugepages", {{"numa_node_id", "1"}, {"page_size", "2Mi"}}) == 64.0);
  CHECK(fixture.host.value("node_hugepages_free", {{"numa_node_id", "1"}, {"page_size", "2Mi"}}) == 32.0);
  CHECK(fixture.host.value("collect_node_cpu_info_total", {{"status", "succeeded"}}) == 1.0);
  CHECK(fixture.host.value("collect_node_numa_info_total", {{"status", "failed"}}) == 0.0);
}

TEST_CASE("hyper-threads off") {
  NodeInfoFixture fixture(koord::test::hyper_threads_off());
  CHECK(fixture.info({{"cores", "8"}, {"cpus", "8"}, {"threads_per_core", "1"}}) == 1.0);
  CHECK(contains(fact(fixture.host, "node_cpu_info"), R"("hyperThreadEnabled":false)"));
}

TEST_CASE("CPUs taken offline leave the list at once, and return to their place") {
  NodeInfoFixture fixture(koord::test::two_sockets_with_threads());
  const std::string before = fact(fixture.host, "node_cpu_info");
  lay_out(fixture.node, without_cpus(koord::test::two_sockets_with_threads(), {3, 11}));
  publish_topology(fixture.host, fixture.node);
  CHECK(fixture.advisor.on_event(KOORD_ON_TOPOLOGY) == KOORD_OK);
  CHECK(contains(fact(fixture.host, "node_cpu_info"), R"("numberCPUs":14)"));
  CHECK_FALSE(contains(fact(fixture.host, "node_cpu_info"), R"({"cpu":11,)"));
  CHECK(fixture.host.series("node_cpu_info").size() == 1);
  CHECK(fixture.info({{"cores", "7"}, {"cpus", "14"}}) == 1.0);
  lay_out(fixture.node, koord::test::two_sockets_with_threads());
  publish_topology(fixture.host, fixture.node);
  CHECK(fixture.advisor.on_event(KOORD_ON_TOPOLOGY) == KOORD_OK);
  CHECK(fact(fixture.host, "node_cpu_info") == before);
}

TEST_CASE("a kernel without NUMA has node 0 with all memory and all huge pages") {
  NodeInfoFixture fixture(koord::test::without_numa());
  CHECK(fixture.host.value("node_numa_memory_total_bytes", {{"numa_node_id", "0"}}) == 16.0 * (1u << 30));
  CHECK(fixture.host.value("node_hugepages", {{"numa_node_id", "0"}, {"page_size", "2Mi"}}) == 64.0);
  CHECK(contains(fact(fixture.host, "node_numa_info"), R"({"numaInfos":[{"numaNodeID":0,)"));
}

TEST_CASE("four NUMA nodes are four entries") {
  NodeInfoFixture fixture(koord::test::four_numa_nodes());
  CHECK(fixture.host.series("node_numa_memory_total_bytes").size() == 4);
  CHECK(fixture.info({{"sockets", "1"}, {"cores", "16"}}) == 1.0);
}

TEST_CASE("an arm64 server with 64 KiB pages") {
  NodeInfoFixture fixture(koord::test::arm64_with_64k_pages());
  CHECK(fixture.info({{"model", "Neoverse-N1"}, {"vendor", "ARM"}, {"sockets", "2"}}) == 1.0);
  CHECK(contains(fact(fixture.host, "node_cpu_info"),
                 R"({"cpu":7,"core":7,"socket":1,"node":1,"l1dl1il2":"7","l3":4,"online":"yes"})"));
  CHECK(fixture.host.value("node_hugepages", {{"numa_node_id", "0"}, {"page_size", "512Mi"}}) == 0.0);
  CHECK(contains(fact(fixture.host, "node_numa_info"), R"("16777216":{"numPages":0,"pageSize":16777216})"));
}

TEST_CASE("an accelerator's NUMA node is not counted as a node of the machine") {
  NodeInfoFixture fixture(koord::test::with_generic_initiator());
  CHECK(fixture.host.series("node_numa_memory_total_bytes").size() == 2);
}

TEST_CASE("a NUMA node with an invalid meminfo only fails the NUMA round, and the last fact is kept") {
  NodeInfoFixture fixture(koord::test::two_sockets_with_threads());
  const std::string before = fact(fixture.host, "node_numa_info");
  fixture.node.write("sys/devices/system/node/node1/meminfo", "\n");
  CHECK(fixture.advisor.collect() == KOORD_E_IO);
  CHECK(fixture.advisor.why().ends_with("node1/meminfo' has no line 'MemTotal'"));
  CHECK(fact(fixture.host, "node_numa_info") == before);
  CHECK(fixture.host.value("collect_node_numa_info_total", {{"status", "failed"}}) == 1.0);
  CHECK(fixture.host.value("collect_node_cpu_info_total", {{"status", "succeeded"}}) == 2.0);
}

TEST_CASE("while the topology is unknown the tick reports that") {
  FakeNode node;
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_E_AGAIN);
}
