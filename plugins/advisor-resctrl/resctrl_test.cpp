// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-resctrl/resctrl.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using namespace koord::resctrl;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

namespace {

constexpr const char* kFeatures = "resctrl/info/L3_MON/mon_features";

// Creates files like on a machine with two sockets, with the kernel's newline after each value.
void make_resctrl(FakeNode& node) {
  node.write("proc/filesystems", "nodev\tsysfs\nnodev\tresctrl\n");
  node.write("resctrl/schemata", "L3:0=7ff;1=7ff\nMB:0=100;1=100\n");
  node.write(kFeatures, "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n");
}

void add_group(FakeNode& node, const std::string& group, const std::string& cache, const char* occupancy,
               const char* local, const char* total) {
  const std::string dir = "resctrl/" + group + "/mon_data/mon_L3_" + cache;
  node.write(dir + "/llc_occupancy", occupancy);
  node.write(dir + "/mbm_local_bytes", local);
  node.write(dir + "/mbm_total_bytes", total);
}

struct ResctrlFixture {
  explicit ResctrlFixture(const char* config = "{}") : config_(config) { make_resctrl(node); }
  void init() { REQUIRE(advisor.init() == KOORD_OK); }
  std::optional<double> llc(const char* qos, const char* cache) const {
    return host.value("resctrl_resource_llc", {{"qos", qos}, {"cache_id", cache}});
  }
  std::optional<double> bandwidth(const char* qos, const char* type) const {
    return host.value("resctrl_resource_mb", {{"qos", qos}, {"cache_id", "0"}, {"resctrl_mb_type", type}});
  }

  FakeNode node;
  std::string config_;
  FakeHost host{node, config_};
  FakeInstance advisor{host, koord_entry_v1()};
};

}  // namespace

TEST_CASE("a value may end with a newline, as the kernel writes it") {
  CHECK(*parse_bytes("1048576\n") == 1048576);
  CHECK(*parse_bytes("18446744073709551615\n") == UINT64_MAX);
  CHECK(*parse_bytes("0\n") == 0);
}

TEST_CASE("a value that the hardware does not have now is missing, and not 0") {
  for (const char* text : {"Unavailable\n", "Unassigned\n", "Error\n"}) CHECK_FALSE(*parse_bytes(text));
}

TEST_CASE("any other text is an error that quotes it") {
  CHECK(parse_bytes("x\n").error().message() == "'x' is not an unsigned integer");
  CHECK_FALSE(parse_bytes(""));
  CHECK_FALSE(parse_bytes("-1\n"));
}

TEST_CASE("a cache has its number without padding") {
  CHECK(cache_of("mon_L3_00") == 0);
  CHECK(cache_of("mon_L3_17") == 17);
  CHECK_FALSE(cache_of("mon_L3_"));
  CHECK_FALSE(cache_of("mon_sub_L3_00"));
  CHECK_FALSE(cache_of("mon_L2_00"));
  CHECK_FALSE(cache_of("mon_L3_99999999999"));
}

TEST_CASE("features are those that the kernel lists") {
  CHECK(parse_features("llc_occupancy\nmbm_total_bytes\nmbm_total_bytes_config\nmbm_local_bytes\n").all());
  const Features bandwidth_only = parse_features("mbm_total_bytes_config\nmbm_local_bytes\n");
  CHECK(bandwidth_only.any());
  CHECK_FALSE(bandwidth_only.occupancy);
  CHECK_FALSE(bandwidth_only.total_bandwidth);
  CHECK_FALSE(parse_features("\n").any());
}

TEST_CASE("occupancy and bandwidth are reported for each QoS class and cache") {
  ResctrlFixture fixture;
  add_group(fixture.node, "LS", "00", "524288\n", "100000\n", "300000\n");
  add_group(fixture.node, "LS", "01", "8192\n", "1\n", "2\n");
  add_group(fixture.node, "BE", "00", "0\n", "7\n", "9\n");
  fixture.init();
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.llc("LS", "0") == 524288.0);
  CHECK(fixture.llc("LS", "1") == 8192.0);
  CHECK(fixture.llc("BE", "0") == 0.0);
  CHECK(fixture.bandwidth("LS", "mbm_local_bytes") == 100000.0);
  CHECK(fixture.bandwidth("LS", "mbm_total_bytes") == 300000.0);
  CHECK_FALSE(fixture.llc("LSR", "0"));
}

TEST_CASE("a class uses the group of qos-resctrl, or else that of koordlet, with the same label") {
  ResctrlFixture fixture;
  add_group(fixture.node, "koord-BE", "00", "4096\n", "1\n", "1\n");
  add_group(fixture.node, "BE", "00", "1\n", "1\n", "1\n");
  add_group(fixture.node, "LS", "00", "8192\n", "1\n", "1\n");
  fixture.init();
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.llc("BE", "0") == 4096.0);
  CHECK(fixture.llc("LS", "0") == 8192.0);
}

TEST_CASE("an unavailable value is not sent, but others are") {
  ResctrlFixture fixture;
  add_group(fixture.node, "LS", "00", "4096\n", "Unavailable\n", "5\n");
  fixture.init();
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.llc("LS", "0") == 4096.0);
  CHECK_FALSE(fixture.bandwidth("LS", "mbm_local_bytes"));
  CHECK(fixture.bandwidth("LS", "mbm_total_bytes") == 5.0);
}

TEST_CASE("a removed group ends its series without an error, and gets new ones when it exists again") {
  ResctrlFixture fixture;
  add_group(fixture.node, "BE", "00", "4096\n", "5\n", "5\n");
  fixture.init();
  CHECK(fixture.advisor.collect() == KOORD_OK);
  fixture.node.remove("resctrl/BE");
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.host.series("resctrl_resource_llc").empty());
  add_group(fixture.node, "BE", "00", "8192\n", "1\n", "1\n");
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.llc("BE", "0") == 8192.0);
  CHECK(fixture.bandwidth("BE", "mbm_total_bytes") == 1.0);
}

TEST_CASE("groups of the configuration replace those of the QoS classes, including monitoring groups") {
  ResctrlFixture fixture(R"({"groups": ["LS", "LS/mon_groups/nginx"]})");
  add_group(fixture.node, "LS", "00", "1\n", "1\n", "1\n");
  add_group(fixture.node, "LS/mon_groups/nginx", "00", "2\n", "2\n", "2\n");
  add_group(fixture.node, "BE", "00", "3\n", "3\n", "3\n");
  fixture.init();
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.llc("LS/mon_groups/nginx", "0") == 2.0);
  CHECK_FALSE(fixture.llc("BE", "0"));
}

TEST_CASE("a file in another format fails the tick with its name, and other groups are reported") {
  ResctrlFixture fixture;
  add_group(fixture.node, "LS", "00", "rubbish\n", "1\n", "1\n");
  add_group(fixture.node, "BE", "00", "3\n", "3\n", "3\n");
  fixture.init();
  CHECK(fixture.advisor.collect() == KOORD_E_IO);
  CHECK(fixture.advisor.why().ends_with("LS/mon_data/mon_L3_00/llc_occupancy': 'rubbish' is not an unsigned integer"));
  CHECK(fixture.llc("BE", "0") == 3.0);
}

TEST_CASE("a CPU that supports only some measurements has these, and the rest is an absent capability") {
  ResctrlFixture fixture;
  fixture.node.write(kFeatures, "llc_occupancy\n");
  add_group(fixture.node, "LS", "00", "4096\n", "1\n", "1\n");
  fixture.init();
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.llc("LS", "0") == 4096.0);
  CHECK(fixture.host.series("resctrl_resource_mb").empty());
  const auto found = fixture.host.capabilities().find("resctrl_monitoring");
  REQUIRE(found);
  CHECK(found->detail == "the CPU does not measure mbm_local_bytes mbm_total_bytes");
}

TEST_CASE(
    "on a node without resctrl, with resctrl not mounted, or with a CPU that cannot monitor, the plugin is absent with the reason") {
  ResctrlFixture fixture;
  fixture.node.remove("resctrl/info");
  CHECK(fixture.advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(fixture.advisor.why().starts_with("the CPU cannot monitor its L3 cache"));
  fixture.node.remove("resctrl");
  CHECK(fixture.advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(fixture.advisor.why().starts_with("resctrl is not mounted at "));
  fixture.node.write("proc/filesystems", "nodev\tsysfs\n");
  CHECK(fixture.advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(fixture.advisor.why().starts_with("no resource control"));
}
