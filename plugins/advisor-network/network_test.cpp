// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-network/network.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "plugins/advisor-network/net_namespace.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::network;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

const std::string kHeader =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n";
const std::string kLoopback =
    "    lo: 999 99    0    0    0     0          0         0 999 99    0    0    0     0       0          0\n";

std::string line(const std::string& name, int bytes) {
  const std::string b = std::to_string(bytes), more = std::to_string(bytes * 10);
  return "  " + name + ": " + b + " 20 3 4 0 0 0 0 " + more + " 60 7 8 0 0 0 0\n";
}

const std::string kSnmp =
    "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm MaxConn OutSegs RetransSegs\nTcp: 1 -1 500 5\nUdp: InDatagrams\nUdp: 7\n";
const std::string kNetstat = "TcpExt: SyncookiesSent ListenDrops\nTcpExt: 0 2\nIpExt: InNoRoutes\nIpExt: 0\n";

void add_process(FakeNode& node, int pid, const std::string& dev) {
  const std::string dir = "proc/" + std::to_string(pid) + "/net";
  node.write(dir + "/dev", kHeader + kLoopback + dev);
  node.write(dir + "/snmp", kSnmp);
  node.write(dir + "/netstat", kNetstat);
}

koord::state::Pod pod(const std::string& name) {
  koord::state::Pod pod;
  pod.uid = pod.name = name;
  pod.cgroup_dir = "kubepods/" + name;
  pod.containers.push_back({.id = "containerd://" + name, .name = "main", .cgroup_dir = pod.cgroup_dir + "/c"});
  return pod;
}

// A cgroup v2 node with a pod "web" in its own namespace and a pod "agent" on the host's network.
struct NetworkFixture {
  explicit NetworkFixture(const char* config = "{}") : host(node, config) {
    add_process(node, 1, line("eth0", 1000) + line("cni0", 500) + line("veth1", 500));
    node.write("sys/class/net/eth0/device/vendor", "x");
    add_process(node, 100, line("eth0", 70) + line("eth1", 7));
    node.link("proc/200/net", "../1/net");
    node.write("cgroup/kubepods/web/cgroup.procs", "");
    node.write("cgroup/kubepods/web/c/cgroup.procs", "100\n101\n");
    node.write("cgroup/kubepods/agent/c/cgroup.procs", "0\n200\n");
    host.hub().publish({.pods = std::vector{pod("web"), pod("agent")}});
    REQUIRE(advisor.init() == KOORD_OK);
  }
  std::optional<double> of_pod(const char* metric, koord::metric::Labels labels = {{"pod_name", "web"}}) const {
    return host.value(metric, labels);
  }

  FakeNode node;
  FakeHost host;
  FakeInstance advisor{host, koord_entry_v1()};
};

}  // namespace

TEST_CASE("an interface has its received and its sent traffic") {
  const Interfaces interfaces = parse_dev(kHeader + kLoopback + line("eth0", 5));
  CHECK(interfaces.size() == 2);
  CHECK(interfaces.at("eth0") == Interface{{5, 20, 3, 4}, {50, 60, 7, 8}});
}

TEST_CASE("a long interface name may touch the first number, and long numbers are parsed") {
  CHECK(parse_dev("enp0s31f6:18446744073709551615 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2\n").at("enp0s31f6").received.bytes ==
        UINT64_MAX);
}

TEST_CASE("a line that is not an interface is left out") {
  CHECK(parse_dev("").empty());
  CHECK(parse_dev("eth0: 1 2 3\n: 1 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2\neth1: x 1 1 1 1 1 1 1 2 2 2 2 2 2 2 2\n").empty());
}

TEST_CASE("counters are found by protocol and name, at any position") {
  CHECK(find_counter(kSnmp, "Tcp", "RetransSegs") == 5);
  CHECK(find_counter(kSnmp, "Udp", "InDatagrams") == 7);
  CHECK_FALSE(find_counter(kSnmp, "Tcp", "MaxConn"));
  CHECK_FALSE(find_counter(kSnmp, "Tcp", "InCsumErrors"));
  CHECK_FALSE(find_counter(kSnmp, "Tc", "OutSegs"));
  CHECK_FALSE(find_counter("Tcp: OutSegs\n", "Tcp", "OutSegs"));
  CHECK_FALSE(find_counter("Tcp: A OutSegs\nTcp: 1\n", "Tcp", "OutSegs"));
}

TEST_CASE("TCP is unknown, not zero, without IPv4") {
  CHECK(parse_tcp(kSnmp, kNetstat) == Tcp{500, 5, 2});
  CHECK(parse_tcp("", "") == Tcp{});
}

TEST_CASE("a process is found in the cgroup or below it, in any hierarchy") {
  FakeNode node({{"cgroup/memory/kubepods/p/deep/cgroup.procs", "0\n42\n43\n"}, {"cgroup/cpu/", ""}});
  CHECK(process_in(node.roots().cgroup, "kubepods/p") == 42);
  CHECK_FALSE(process_in(node.roots().cgroup, "kubepods/other"));
}

TEST_CASE("our own namespace is the one of our thread, and a process that has ended has none") {
  const auto own = read_namespace("/proc", ::getpid(), Read::interfaces_and_tcp);
  REQUIRE(own);
  CHECK(own->id == namespace_of("/proc", ::getpid()));
  CHECK(own->interfaces.contains("lo"));
  CHECK(read_namespace("/proc", INT32_MAX, Read::interfaces).error().is(std::errc::no_such_file_or_directory));
  CHECK_FALSE(namespace_of("/proc", INT32_MAX));
}

TEST_CASE("a pod's traffic is the sum over its interfaces without the loopback") {
  NetworkFixture fixture;
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.of_pod("pod_network_receive_bytes_total") == 77.0);
  CHECK(fixture.of_pod("pod_network_transmit_bytes_total") == 770.0);
  CHECK(fixture.of_pod("pod_network_receive_packets_total") == 40.0);
  CHECK(fixture.of_pod("pod_network_transmit_packets_total") == 120.0);
  CHECK(fixture.of_pod("pod_network_receive_errors_total") == 6.0);
  CHECK(fixture.of_pod("pod_network_transmit_errors_total") == 14.0);
  CHECK(fixture.of_pod("pod_network_receive_drops_total") == 8.0);
  CHECK(fixture.of_pod("pod_network_transmit_drops_total") == 16.0);
  CHECK(fixture.of_pod("pod_network_tcp_segments_sent_total") == 500.0);
  CHECK(fixture.of_pod("pod_network_tcp_retransmits_total") == 5.0);
  CHECK(fixture.of_pod("pod_network_tcp_listen_drops_total") == 2.0);
}

TEST_CASE("TCP's counters are read every 30 s, the traffic at each tick") {
  NetworkFixture fixture;
  CHECK(fixture.advisor.collect() == KOORD_OK);
  add_process(fixture.node, 100, line("eth0", 90));
  fixture.node.write("proc/100/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 600 6\n");
  fixture.host.clock().advance(25s);
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.of_pod("pod_network_receive_bytes_total") == 90.0);
  CHECK(fixture.of_pod("pod_network_tcp_retransmits_total") == 5.0);
  fixture.host.clock().advance(5s);
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.of_pod("pod_network_tcp_retransmits_total") == 6.0);
}

TEST_CASE("the node's traffic is that of its cards, not of virtual interfaces for pods") {
  NetworkFixture fixture;
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.host.value("node_network_receive_bytes_total") == 1000.0);
  CHECK(fixture.host.value("node_network_tcp_retransmits_total") == 5.0);
}

TEST_CASE("a node without cards, which is itself a container, has the traffic of all interfaces but the loopback") {
  NetworkFixture fixture;
  fixture.node.remove("sys/class/net");
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.host.value("node_network_receive_bytes_total") == 2000.0);
}

TEST_CASE("pods on the host's network have no series and are counted") {
  NetworkFixture fixture;
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.host.series("pod_network_receive_bytes_total").size() == 1);
  CHECK(fixture.host.value("node_host_network_pods") == 1.0);
}

TEST_CASE(
    "after the end of the process another process of the pod is read, and a pod without processes has no values") {
  NetworkFixture fixture;
  CHECK(fixture.advisor.collect() == KOORD_OK);
  fixture.node.remove("proc/100");
  fixture.node.write("cgroup/kubepods/web/c/cgroup.procs", "101\n");
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.of_pod("pod_network_receive_bytes_total") == 77.0);
  add_process(fixture.node, 101, line("eth0", 90));
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.of_pod("pod_network_receive_bytes_total") == 90.0);
}

TEST_CASE("if the pid of an ended process is reused, the pod does not get the other process's traffic") {
  NetworkFixture fixture;
  CHECK(fixture.advisor.collect() == KOORD_OK);
  fixture.node.remove("proc/100");
  fixture.node.link("proc/100/net", "../1/net");
  add_process(fixture.node, 101, line("eth0", 90));
  fixture.node.write("cgroup/kubepods/web/c/cgroup.procs", "101\n");
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.of_pod("pod_network_receive_bytes_total") == 90.0);
  CHECK(fixture.host.value("node_host_network_pods") == 1.0);
}

TEST_CASE("a container outside Kubernetes with its own namespace has its own series, but a service has none") {
  NetworkFixture fixture;
  koord::state::Container container, service;
  container.name = "docker-web";
  container.cgroup_dir = "system.slice/docker-web.scope";
  service.name = service.cgroup_dir = "sshd.service";
  fixture.node.write("cgroup/system.slice/docker-web.scope/cgroup.procs", "100\n");
  fixture.node.write("cgroup/sshd.service/cgroup.procs", "200\n");
  fixture.host.hub().publish({.standalone = std::vector{container, service}});
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.host.value("container_network_receive_bytes_total", {{"container_name", "docker-web"}}) == 77.0);
  CHECK(fixture.host.series("container_network_receive_bytes_total").size() == 1);
  CHECK(fixture.host.value("node_host_network_pods") == 1.0);
}

TEST_CASE("by configuration each interface of a pod has its own series") {
  NetworkFixture fixture(R"({"perInterface": true})");
  CHECK(fixture.advisor.collect() == KOORD_OK);
  CHECK(fixture.of_pod("pod_network_receive_bytes_total", {{"interface", "eth0"}}) == 70.0);
  CHECK(fixture.of_pod("pod_network_receive_bytes_total", {{"interface", "eth1"}}) == 7.0);
  CHECK(fixture.host.series("pod_network_receive_bytes_total").size() == 2);
}

TEST_CASE("the node is measured before the pods are known") {
  FakeNode node;
  add_process(node, 1, line("eth0", 5));
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("node_network_receive_bytes_total") == 5.0);
  CHECK_FALSE(host.value("node_host_network_pods"));
}

TEST_CASE("without the node's own namespace the plugin is absent, and the reason is reported") {
  FakeNode node;
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_UNSUPPORTED);
  CHECK(advisor.why().starts_with("no network to measure"));
}
