// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-block-latency/block_latency.hpp"

#include <doctest/doctest.h>

#include "plugins/advisor-block-latency/block_series.hpp"
#include "test/support/fake_host.hpp"

using koord::block_latency::added;
using koord::block_latency::BlockMetrics;
using koord::block_latency::BlockSeries;
using koord::block_latency::Device;
using koord::block_latency::name_of;
using koord::block_latency::Operation;
using koord::block_latency::Requests;
using koord::block_latency::Windows;
using koord::latency::CumulativeCounts;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;

namespace {

constexpr Device kDisk{254u << 20}, kLoop{(7u << 20) | 3};

// Returns n requests of 4 KiB, each 100 µs on the device and 20 µs in the queue.
Requests requests(Device device, Operation operation, std::uint64_t n) {
  Requests requests;
  requests.devices[device].of(operation) = {n, n * 4096, n * 100'000, n * 20'000};
  if (operation == Operation::other) return requests;
  auto& histogram = requests.latency_of(operation);
  histogram.count = n;
  histogram.sum_ns = n * 100'000;
  histogram.buckets[7] = n;  // [64, 128) µs
  return requests;
}

Requests sum(Requests left, const Requests& right) { return left += right; }

void report(FakeHost& host, BlockSeries& series, const Requests& window) {
  koord::plugin::Batch batch(host.abi());
  CumulativeCounts counts;
  series.report(
      window, [](Device device) { return name_of(device); }, batch, counts);
  batch.send(static_cast<std::uint64_t>(host.clock().now().time_since_epoch().count()));
  host.clock().advance(std::chrono::seconds(5));
}

FakeNode v2_node() { return FakeNode({{"cgroup/cgroup.procs", ""}, {"proc/self/cgroup", "0::/\n"}}); }

}  // namespace

TEST_CASE("a device has the kernel's number: 20 bits of minor below the major") {
  CHECK(name_of(kDisk) == "254:0");
  CHECK(name_of(kLoop) == "7:3");
}

TEST_CASE("the difference is kept by device and operation") {
  const Requests before = requests(kDisk, Operation::read, 10);
  const Requests now = sum(sum(before, requests(kDisk, Operation::write, 1)), requests(kLoop, Operation::read, 2));
  const Requests difference = added(before, now);
  CHECK(difference.devices.at(kDisk).of(Operation::read).requests == 0);
  CHECK(difference.devices.at(kDisk).of(Operation::write).bytes == 4096);
  CHECK(difference.devices.at(kLoop).of(Operation::read).queue_ns == 40'000);
  CHECK(difference.latency_of(Operation::read).count == 2);
}

TEST_CASE("a device's totals that decreased were reset and count whole") {
  const Requests difference = added(requests(kDisk, Operation::read, 10), requests(kDisk, Operation::read, 4));
  CHECK(difference == requests(kDisk, Operation::read, 4));
}

TEST_CASE("flushes alone make a window that is not empty") {
  CHECK(Requests{}.empty());
  CHECK_FALSE(requests(kDisk, Operation::other, 1).empty());
}

TEST_CASE("the node's window has the requests of every cgroup and those without one") {
  Windows windows;
  windows.advance({.unassigned = Requests{}});
  windows.advance(
      {.cgroups = {{7, requests(kDisk, Operation::read, 3)}}, .unassigned = requests(kDisk, Operation::other, 2)});
  CHECK(*windows.node() == sum(requests(kDisk, Operation::read, 3), requests(kDisk, Operation::other, 2)));
}

TEST_CASE("time in the queue and on the device are running totals over all devices and operations") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  BlockSeries series(BlockMetrics(host.abi(), "container", false, false), KOORD_NO_SUBJECT);
  report(host, series, sum(requests(kDisk, Operation::read, 10'000), requests(kLoop, Operation::write, 10'000)));
  CHECK(host.value("container_block_time_seconds_total", {{"phase", "device"}}).value() == doctest::Approx(2.0));
  CHECK(host.value("container_block_time_seconds_total", {{"phase", "queue"}}).value() == doctest::Approx(0.4));
}

TEST_CASE("mean and quantile are of one direction") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  BlockSeries series(BlockMetrics(host.abi(), "container", false, false), KOORD_NO_SUBJECT);
  report(host, series, requests(kDisk, Operation::read, 10));
  CHECK(host.value("container_block_latency_mean_seconds", {{"direction", "read"}}).value() == doctest::Approx(1e-4));
  CHECK(host.value("container_block_latency_p99_seconds", {{"direction", "read"}}).value() ==
        doctest::Approx(127.36e-6));
  CHECK_FALSE(host.value("container_block_latency_mean_seconds", {{"direction", "write"}}));
}

TEST_CASE("a device has series from its first request on, and only for operations that occurred") {
  const FakeNode node = v2_node();
  FakeHost host(node);
  BlockSeries series(BlockMetrics(host.abi(), "node", false, true), KOORD_NO_SUBJECT);
  report(host, series, Requests{});
  CHECK(host.series("node_block_device_requests_total").empty());
  report(host, series, requests(kDisk, Operation::read, 10));
  report(host, series, requests(kDisk, Operation::read, 1));
  CHECK(host.series("node_block_device_requests_total").size() == 1);
  CHECK(host.value("node_block_device_requests_total", {{"device", "254:0"}, {"operation", "read"}}) == 11.0);
  CHECK(host.value("node_block_device_bytes_total", {{"device", "254:0"}, {"operation", "read"}}) == 11 * 4096.0);
}

TEST_CASE("if the kernel refuses every source the plugin is absent, with the reason for each") {
  const FakeNode node = v2_node();
  FakeHost host(node, R"({"btf": "/dev/null"})");
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("btf_tracepoint: ") != std::string::npos);
  CHECK(advisor.why().find("raw_tracepoint: ") != std::string::npos);
}

TEST_CASE("without a hierarchy of the blkio controller the plugin is absent") {
  const FakeNode node({{"proc/self/cgroup", "7:blkio:/\n"}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("no tree of the blkio controller") != std::string::npos);
}

TEST_CASE("after the machine went down with its programs the plugin is absent, and reports and records that") {
  FakeNode node = v2_node();
  node.write("proc/sys/kernel/random/boot_id", "11111111-1111-1111-1111-111111111111\n");
  node.write("state/advisor-block-latency.tracing-abcdef", "22222222-2222-2222-2222-222222222222");
  FakeHost host(node, "{\"marker\": \"" + node.path("state") + "\"}");
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().find("went down") != std::string::npos);
}
