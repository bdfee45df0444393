// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-rdma/rdma.hpp"

#include <doctest/doctest.h>

#include "plugins/advisor-rdma/rdma_files.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::rdma;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

const std::string kRoot = "sys/devices/pci0000:3a/0000:3a:00.0/";

// Adds a PCI function behind a bridge, in both views of sysfs: in the directory of the bus and in its own directory.
void add_function(FakeNode& node, const std::string& address, const char* pci_class = "0x020000\n") {
  const std::string dir = kRoot + address;
  node.write(dir + "/class", pci_class);
  node.write(dir + "/vendor", "0x15b3\n");
  node.write(dir + "/device", "0x101d\n");
  node.write(dir + "/numa_node", "1\n");
  node.link("sys/bus/pci/devices/" + address, "../../../devices/pci0000:3a/0000:3a:00.0/" + address);
}

void add_rdma(FakeNode& node, const std::string& address, const std::string& name) {
  const std::string dir = kRoot + address + "/infiniband/" + name;
  node.write(dir + "/node_type", "1: CA\n");
  node.link(dir + "/device", "../../../" + address);
  node.link("sys/class/infiniband/" + name, "../../devices/pci0000:3a/0000:3a:00.0/" + address + "/infiniband/" + name);
}

void add_port(FakeNode& node, const std::string& name, const char* state, const char* received_words = "1000\n") {
  const std::string dir = "sys/class/infiniband/" + name + "/ports/1";
  node.write(dir + "/state", state);
  node.write(dir + "/counters/port_rcv_data", received_words);
  for (const char* file : {"port_xmit_data", "port_rcv_packets", "port_xmit_packets", "port_rcv_errors",
                           "port_xmit_discards", "link_downed"})
    node.write(dir + "/counters/" + file, "7\n");
}

// Makes a card with two ports, each a function. The first has two virtual functions, one of them with an RDMA device.
void make_node(FakeNode& node) {
  add_function(node, "0000:3b:00.0");
  add_function(node, "0000:3b:00.1");
  add_function(node, "0000:3b:00.2");
  add_rdma(node, "0000:3b:00.0", "mlx5_0");
  add_rdma(node, "0000:3b:00.1", "mlx5_1");
  add_rdma(node, "0000:3b:00.2", "mlx5_2");
  node.write(kRoot + "0000:3b:00.0/net/ens1f0/mtu", "1500\n");
  node.link(kRoot + "0000:3b:00.0/virtfn10", "../0000:3b:01.2");
  node.link(kRoot + "0000:3b:00.0/virtfn2", "../0000:3b:00.2");
  node.link(kRoot + "0000:3b:00.2/physfn", "../0000:3b:00.0");
  add_port(node, "mlx5_0", "4: ACTIVE\n");
  add_port(node, "mlx5_1", "1: DOWN\n");
  add_port(node, "mlx5_2", "4: ACTIVE\n");
}

std::vector<Device> devices_of(const FakeNode& node) {
  const std::string sys = node.roots().sys;
  return read_devices(sys, device_names(sys));
}

std::string fact(FakeHost& host) {
  const auto bytes = host.store().get("test/RDMA");
  return bytes ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : "";
}

}  // namespace

TEST_CASE("Mellanox devices have the number in their name, others that of their device file") {
  CHECK(number_of_mlx("mlx5_12") == 12);
  CHECK(number_of_mlx("mlx4_0") == 0);
  for (const char* other :
       {"mlx5_bond", "mlx_0", "mlx5_", "mlx5", "mlx5_-1", "bnxt_re0", "xmlx5_0", "mlx5_99999999999"})
    CHECK_FALSE(number_of_mlx(other));
  CHECK(number_of_verbs("uverbs3") == 3);
  CHECK_FALSE(number_of_verbs("uverbs"));
}

TEST_CASE("only ACTIVE is active") {
  CHECK(is_active("4: ACTIVE"));
  for (const char* other : {"1: DOWN", "2: INIT", "5: ACTIVE_DEFER", "", "ACTIVE"}) CHECK_FALSE(is_active(other));
}

TEST_CASE("a PCI address has a domain, a bus, a device and a function") {
  CHECK(is_pci_address("0000:3b:00.0"));
  CHECK(is_pci_address("10000:e1:1f.7"));
  for (const char* other : {"", "3b:00.0", "0000:3b:00", "0000:3b:00.x", "virtio0", "0000-3b:00.0", "zzzz:3b:00.0"})
    CHECK_FALSE(is_pci_address(other));
}

TEST_CASE("the PCI root of a device is a part of its path") {
  CHECK(pci_root("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0") == "pci0000:3a");
  CHECK(pci_root("/sys/devices/LNXSYSTM:00/pci10000:e0/10000:e1:00.0") == "pci10000:e0");
  CHECK(pci_root("/sys/devices/virtual/pcix/x").empty());
}

TEST_CASE("a counter that the device lacks has no value") {
  CHECK(parse_counter("18446744073709551615\n") == UINT64_MAX);
  CHECK_FALSE(parse_counter("N/A (no PMA)\n"));
  CHECK_FALSE(parse_counter(""));
}

TEST_CASE("a device is a physical function with its names, place, virtual functions and health") {
  FakeNode node;
  make_node(node);
  const std::vector<Device> devices = devices_of(node);
  REQUIRE(devices.size() == 2);
  CHECK(devices[0] == Device{"0000:3b:00.0",
                             "pci0000:3a",
                             "15b3",
                             "101d",
                             "ens1f0",
                             {"mlx5_0"},
                             {"0000:3b:00.2", "0000:3b:01.2"},
                             0,
                             1,
                             true});
  CHECK(devices[1] == Device{"0000:3b:00.1", "pci0000:3a", "15b3", "101d", "", {"mlx5_1"}, {}, 1, 1, false});
}

TEST_CASE("a device of another vendor has the number of its device file; without a file it has none") {
  FakeNode node;
  add_function(node, "0000:3b:00.0");
  add_rdma(node, "0000:3b:00.0", "rocep59s0");
  CHECK(devices_of(node)[0].minor == -1);
  node.write(kRoot + "0000:3b:00.0/infiniband_verbs/uverbs4/ibdev", "rocep59s0\n");
  CHECK(devices_of(node)[0].minor == 4);
}

TEST_CASE("a device without ports, or with a port that is down, is not healthy; NUMA node -1 is 0") {
  FakeNode node;
  add_function(node, "0000:3b:00.0");
  add_rdma(node, "0000:3b:00.0", "mlx5_0");
  node.write(kRoot + "0000:3b:00.0/numa_node", "-1\n");
  CHECK_FALSE(devices_of(node)[0].is_healthy);
  CHECK(devices_of(node)[0].numa_node == 0);
  add_port(node, "mlx5_0", "4: ACTIVE\n");
  CHECK(devices_of(node)[0].is_healthy);
  node.write("sys/class/infiniband/mlx5_0/ports/2/state", "2: INIT\n");
  CHECK_FALSE(devices_of(node)[0].is_healthy);
}

TEST_CASE("software devices and functions of another class are not in the list") {
  FakeNode node;
  node.write("sys/devices/virtual/infiniband/rxe0/ports/1/state", "4: ACTIVE\n");
  node.link("sys/class/infiniband/rxe0", "../../devices/virtual/infiniband/rxe0");
  add_function(node, "0000:3b:00.0", "0x010802\n");
  add_rdma(node, "0000:3b:00.0", "other_0");
  CHECK(device_names(node.roots().sys) == std::vector<std::string>{"other_0", "rxe0"});
  CHECK(devices_of(node).empty());
}

TEST_CASE("the fact has koordlet's shape") {
  CHECK(
      devices_json(
          {{"0000:3b:00.0", "pci0000:3a", "15b3", "101d", "ens1f0", {"mlx5_0"}, {"0000:3b:00.2"}, 0, 1, true}}) ==
      R"([{"id":"0000:3b:00.0","netDev":"ens1f0","rdmaResources":["mlx5_0"],"vfEnabled":true,"vfMap":{"0000:3b:00.2":{"id":"0000:3b:00.2"}},)"
      R"("minor":0,"vendorCode":"15b3","deviceCode":"101d","nodeID":1,"pcie":"pci0000:3a","busID":"0000:3b:00.0","health":true}])");
  CHECK(devices_json({}) == "[]");
}

TEST_CASE("ports have their traffic in bytes, but ports of virtual functions have none") {
  FakeNode node;
  make_node(node);
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  const koord::metric::Labels first = {{"device", "mlx5_0"}, {"port", "1"}};
  CHECK(host.value("rdma_port_receive_bytes_total", first) == 4000.0);
  CHECK(host.value("rdma_port_transmit_bytes_total", first) == 28.0);
  for (const char* metric :
       {"receive_packets", "transmit_packets", "receive_errors", "transmit_discards", "link_downs"})
    CHECK(host.value("rdma_port_" + std::string(metric) + "_total", first) == 7.0);
  CHECK(host.value("rdma_port_active", first) == 1.0);
  CHECK(host.value("rdma_port_active", {{"device", "mlx5_1"}}) == 0.0);
  CHECK(host.series("rdma_port_active").size() == 2);
  CHECK(fact(host).starts_with(R"([{"id":"0000:3b:00.0")"));
}

TEST_CASE("a counter that a device lacks has no series") {
  FakeNode node;
  make_node(node);
  add_port(node, "mlx5_0", "4: ACTIVE\n", "N/A (no PMA)\n");
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.series("rdma_port_receive_bytes_total").size() == 1);
}

TEST_CASE("the list is read once a minute, the counters at each tick, and the series of a removed device end") {
  FakeNode node;
  make_node(node);
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  const std::string before = fact(host);
  add_port(node, "mlx5_0", "1: DOWN\n", "2000\n");
  host.clock().advance(10s);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("rdma_port_receive_bytes_total", {{"device", "mlx5_0"}}) == 8000.0);
  CHECK(fact(host) == before);
  node.remove("sys/class/infiniband/mlx5_1");
  host.clock().advance(50s);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(fact(host).find(R"("health":false)") != std::string::npos);
  CHECK(fact(host).find("0000:3b:00.1") == std::string::npos);
  CHECK(host.series("rdma_port_active").size() == 1);
}

TEST_CASE("on a node without RDMA the plugin is absent, and the reason is reported") {
  FakeNode node;
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().starts_with("no RDMA devices"));
}
