// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-block-io/block_io.hpp"

#include <doctest/doctest.h>

#include "test/support/fake_host.hpp"

using namespace koord::block_io;
using koord::cgroup::IoStat;
using koord::cgroup::kAbsent;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

IoStat stat(std::uint32_t minor, std::int64_t bytes_read, std::int64_t reads = 1) {
  return {.major = 8, .minor = minor, .read_bytes = bytes_read, .write_bytes = 0, .read_ios = reads, .write_ios = 0};
}

std::vector<Row> update(DeviceTotals& totals, std::vector<IoStat> stats) { return totals.update(stats); }

void publish_pod(FakeHost& host) {
  koord::state::Pod pod;
  pod.uid = pod.name = "pod1";
  pod.cgroup_dir = "kubepods/pod1";
  pod.containers.push_back({.id = "containerd://c1", .name = "main", .cgroup_dir = "kubepods/pod1/c1"});
  host.hub().publish({.pods = std::vector{pod}});
}

// A v2 node with a pod that has used sda (8:0) and, if requested, other devices.
struct BlockIoFixture {
  BlockIoFixture() {
    node.write("cgroup/cgroup.controllers", "cpu io memory\n");
    node.link("sys/dev/block/8:0", "../../devices/pci0000:00/block/sda");
    write_pod("8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n7:0 rbytes=0 wbytes=0 rios=0 wios=0\n");
  }
  void write_pod(std::string_view io_stat) {
    node.write("cgroup/kubepods/pod1/io.stat", io_stat);
    node.write("cgroup/kubepods/pod1/c1/io.stat", io_stat);
  }
  FakeNode node;
};

koord::metric::Labels device(const char* name) { return {{"device", name}}; }

}  // namespace

TEST_CASE("each device has a row with the kernel's own totals") {
  DeviceTotals totals(4);
  const std::vector<Row> rows = update(totals, {stat(0, 4096), stat(16, 512)});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].device == DeviceNumber{8, 0});
  CHECK(rows[0].totals == Counters{4096, 0, 1, 0});
  CHECK(rows[1].totals[kReadBytes] == 512);
}

TEST_CASE("a device without I/O, or with unknown counters, has no row") {
  DeviceTotals totals(4);
  CHECK(update(totals, {stat(0, 0, 0)}).empty());
  CHECK(update(totals, {{.major = 7, .minor = 1}}).empty());
}

TEST_CASE("values of a device that the kernel lacks stay unknown") {
  DeviceTotals totals(4);
  const std::vector<Row> rows = update(totals, {{.major = 8, .minor = 0, .read_bytes = 5}});
  CHECK(rows[0].totals == Counters{5, kAbsent, kAbsent, kAbsent});
}

TEST_CASE("devices beyond the first ones share a row, which grows with each of them and never decreases") {
  DeviceTotals totals(1);
  CHECK(update(totals, {stat(0, 10), stat(16, 100), stat(32, 1000)})[1].totals[kReadBytes] == 1100);
  const std::vector<Row> rows = update(totals, {stat(0, 20), stat(32, 1500)});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].totals[kReadBytes] == 20);
  CHECK_FALSE(rows[1].device);
  CHECK(rows[1].totals[kReadBytes] == 1600);
}

TEST_CASE("a shared device that was replaced by another one with its number counts from zero") {
  DeviceTotals totals(0);
  CHECK(update(totals, {stat(0, 100)})[0].totals[kReadBytes] == 100);
  CHECK(update(totals, {stat(0, 30)})[0].totals[kReadBytes] == 130);
}

TEST_CASE("a device that shared a row keeps sharing it") {
  DeviceTotals totals(1);
  update(totals, {stat(0, 10), stat(16, 100)});
  const std::vector<Row> rows = update(totals, {stat(16, 150)});
  REQUIRE(rows.size() == 1);
  CHECK_FALSE(rows[0].device);
}

TEST_CASE("pods and containers have four counters for each device, with the name of sysfs") {
  BlockIoFixture fixture;
  FakeHost host(fixture.node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_block_read_bytes_total", {{"device", "sda"}, {"device_number", "8:0"}}) == 4096.0);
  CHECK(host.value("container_block_write_bytes_total", device("sda")) == 8192.0);
  CHECK(host.value("container_block_reads_total", device("sda")) == 1.0);
  CHECK(host.value("pod_block_writes_total", device("sda")) == 2.0);
  CHECK(host.series("container_block_read_bytes_total").size() == 1);
  CHECK(host.capabilities().find("container_block_io")->state == koord::service::CapabilityState::supported);
}

TEST_CASE("a device that sysfs does not know has its number as its name") {
  BlockIoFixture fixture;
  fixture.write_pod("259:3 rbytes=1 wbytes=0 rios=1 wios=0\n");
  FakeHost host(fixture.node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_block_read_bytes_total", device("259:3")) == 1.0);
}

TEST_CASE("if a number belongs to another device now, there is another series") {
  BlockIoFixture fixture;
  FakeHost host(fixture.node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  fixture.node.remove("sys/dev/block/8:0");
  fixture.node.link("sys/dev/block/8:0", "../../devices/pci0000:00/block/sdb");
  host.clock().advance(2min);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_block_read_bytes_total", device("sdb")) == 4096.0);
  CHECK_FALSE(host.value("container_block_read_bytes_total", device("sda")));
}

TEST_CASE("the configuration sets how many devices have their own series") {
  BlockIoFixture fixture;
  fixture.write_pod(
      "8:0 rbytes=1 wbytes=0 rios=1 wios=0\n8:16 rbytes=2 wbytes=0 rios=1 wios=0\n8:32 rbytes=4 wbytes=0 rios=1 wios=0\n");
  FakeHost host(fixture.node, R"({"maxDevices": 1})");
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.series("container_block_read_bytes_total").size() == 2);
  CHECK(host.value("container_block_read_bytes_total", device("other")) == 6.0);
}

TEST_CASE("on v1 the two throttling files give the same counters, including the children if the kernel supports that") {
  FakeNode node;
  node.link("sys/dev/block/8:0", "../../block/sda");
  for (const char* dir : {"cgroup/blkio/kubepods/pod1", "cgroup/blkio/kubepods/pod1/c1"}) {
    node.write(std::string(dir) + "/blkio.throttle.io_service_bytes", "8:0 Read 1\n8:0 Write 1\nTotal 2\n");
    node.write(std::string(dir) + "/blkio.throttle.io_service_bytes_recursive",
               "8:0 Read 4096\n8:0 Write 8192\nTotal 12288\n");
    node.write(std::string(dir) + "/blkio.throttle.io_serviced", "8:0 Read 1\n8:0 Write 2\nTotal 3\n");
  }
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("container_block_read_bytes_total", device("sda")) == 4096.0);
  CHECK(host.value("container_block_writes_total", device("sda")) == 2.0);
}

TEST_CASE("a v1 kernel that counts nothing makes the capability absent until it counts") {
  FakeNode node;
  node.write("cgroup/blkio/kubepods/pod1/blkio.throttle.io_service_bytes_recursive", "Total 0\n");
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.series("pod_block_read_bytes_total").empty());
  CHECK(host.capabilities().find("container_block_io")->state == koord::service::CapabilityState::absent);
  node.write("cgroup/blkio/kubepods/pod1/blkio.throttle.io_service_bytes_recursive", "8:0 Read 512\nTotal 512\n");
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("pod_block_read_bytes_total") == 512.0);
  CHECK(host.capabilities().find("container_block_io")->state == koord::service::CapabilityState::supported);
}

TEST_CASE("on a node without io and blkio controller the plugin is absent with the reason") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory\n"}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("blkio controller") != std::string::npos);
}

TEST_CASE("a v2 node on which the io controller is not enabled for pods reports this once") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu io memory\n"}, {"cgroup/kubepods/pod1/c1/", ""}});
  FakeHost host(node);
  publish_pod(host);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.capabilities().find("container_block_io")->detail.find("not switched on") != std::string::npos);
}
