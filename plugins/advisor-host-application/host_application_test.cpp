// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/advisor-host-application/host_applications.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::host_application;
using koord::cgroup::Driver;
using koord::cgroup::KubeRoot;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

const std::vector<KubeRoot> kRoots = {{Driver::systemd, "kubepods.slice"}};

using Dirs = std::vector<std::string>;

Applications parsed(const std::string& entries) {
  return parse_host_applications("{\"hostApplications\":[" + entries + "]}", kRoots).value();
}

Dirs dirs_of(const std::string& entry) {
  const Applications found = parsed(entry);
  REQUIRE(found.applications.size() == 1);
  return found.applications[0].cgroup_dirs;
}

std::string refusal_of(const std::string& entry) {
  const Applications found = parsed(entry);
  REQUIRE(found.refused.size() == 1);
  return found.refused[0];
}

constexpr const char* kStat =
    "inactive_anon 4096\nactive_anon 4096\nunevictable 0\ninactive_file 8192\nactive_file 4096\n";
constexpr const char* kNginx = R"({"hostApplications":[{"name":"nginx","priority":"koord-prod","qos":"LS"}]})";

void publish(FakeHost& host, const char* slo) {
  host.hub().publish({.pods = std::vector<koord::state::Pod>{}, .node_slo = std::string(slo)});
}

void make_nginx(FakeNode& node) {
  node.write("cgroup/cgroup.controllers", "cpu memory");
  node.write("cgroup/host-latency-sensitive/nginx/cpu.stat", "usage_usec 1000000\n");
  node.write("cgroup/host-latency-sensitive/nginx/memory.stat", kStat);
}

}  // namespace

TEST_CASE("without a path the QoS class determines the cgroup") {
  CHECK(dirs_of(R"({"name":"a","qos":"LSE"})") == Dirs{"host-latency-sensitive/a"});
  CHECK(dirs_of(R"({"name":"a","qos":"LSR"})") == Dirs{"host-latency-sensitive/a"});
  CHECK(dirs_of(R"({"name":"a","qos":"LS"})") == Dirs{"host-latency-sensitive/a"});
  CHECK(dirs_of(R"({"name":"a","qos":"BE"})") == Dirs{"host-best-effort/a"});
  CHECK(dirs_of(R"({"name":"a"})") == Dirs{"a"});
}

TEST_CASE("a path consists of base, parent and relative path, without the name") {
  const auto path = [](const std::string& object) {
    return dirs_of("{\"name\":\"a\",\"qos\":\"LS\",\"cgroupPath\":" + object + "}");
  };
  CHECK(path(R"({"base":"CgroupRoot","parentDir":"/system.slice/","relativePath":"nginx.service"})") ==
        Dirs{"system.slice/nginx.service"});
  CHECK(path(R"({"relativePath":"b"})") == Dirs{"b"});
  CHECK(path(R"({"base":"Kubepods","parentDir":"x","relativePath":"y"})") == Dirs{"kubepods.slice/x/y"});
  CHECK(path(R"({"base":"KubepodsBurstable","relativePath":"y"})") ==
        Dirs{"kubepods.slice/kubepods-burstable.slice/y"});
  CHECK(path(R"({"base":"KubepodsBesteffort","relativePath":"y"})") ==
        Dirs{"kubepods.slice/kubepods-besteffort.slice/y"});
}

TEST_CASE("while the kubelet's directory is unknown, all possible places are searched") {
  const std::vector<KubeRoot> roots = {{Driver::systemd, "kubepods.slice"}, {Driver::cgroupfs, "kubepods"}};
  auto found = parse_host_applications(
      R"({"hostApplications":[{"name":"a","cgroupPath":{"base":"KubepodsBesteffort","relativePath":"a"}}]})", roots);
  REQUIRE(found);
  CHECK(found->applications.at(0).cgroup_dirs ==
        Dirs{"kubepods.slice/kubepods-besteffort.slice/a", "kubepods/besteffort/a"});
}

TEST_CASE("priority and QoS class are used as written") {
  const Application nginx = parsed(R"({"name":"nginx","priority":"koord-prod","qos":"LS"})").applications.at(0);
  CHECK(nginx.priority_class == "koord-prod");
  CHECK(nginx.qos == "LS");
}

TEST_CASE("no NodeSLO, or one without host applications, has none") {
  for (const char* spec : {"", "{}", R"({"hostApplications":null})", R"({"hostApplications":[]})"})
    CHECK(parse_host_applications(spec, kRoots)->applications.empty());
}

TEST_CASE("an invalid entry is refused with name and reason, and other entries count") {
  CHECK(refusal_of(R"({"qos":"LS"})") == "hostApplications[0]: it has no name");
  CHECK(refusal_of(R"({"name":"a","cgroupPath":{"base":"Kube"}})")
            .find("'a': base 'Kube' is none of CgroupRoot, Kubepods") != std::string::npos);
  CHECK(refusal_of(R"({"name":"a","cgroupPath":{"parentDir":"../x"}})") ==
        "hostApplications[0] 'a': '../x' is not a cgroup below the root of the tree");
  CHECK(refusal_of(R"({"name":"a","cgroupPath":{}})") ==
        "hostApplications[0] 'a': its cgroup would be the root of the tree");
  CHECK(refusal_of(R"({"name":"a","qos":5})") == "hostApplications[0] 'a': 'qos' is not a text");
  CHECK(parsed(R"(7,{"name":"a"},{"name":"b"})").applications.size() == 2);
}

TEST_CASE("the first of two entries with one name counts") {
  const Applications found = parsed(R"({"name":"a","qos":"LS"},{"name":"a","qos":"BE"})");
  CHECK(found.applications.size() == 1);
  CHECK(found.applications.at(0).qos == "LS");
  CHECK(found.refused.at(0) == "hostApplications[1] 'a': another of this name comes before it");
}

TEST_CASE("a spec that is not a JSON object, or has applications that are no list, is an error") {
  CHECK(parse_host_applications("{", kRoots).error().message().find("the NodeSLO's spec: not JSON") !=
        std::string::npos);
  CHECK_FALSE(parse_host_applications("[]", kRoots));
  CHECK(parse_host_applications(R"({"hostApplications":{}})", kRoots).error().text == "hostApplications is not a list");
}

TEST_CASE("the first tick gives memory with and without page cache, the second CPU") {
  FakeNode node;
  make_nginx(node);
  FakeHost host(node);
  publish(host, kNginx);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  const koord::metric::Labels nginx = {{"host_app_name", "nginx"}, {"priority_class", "koord-prod"}, {"qos", "LS"}};
  CHECK(host.value("host_application_memory_usage", nginx) == 8192.0);
  CHECK(host.value("host_application_memory_usage_with_page_cache", nginx) == 20480.0);
  CHECK(host.value("host_applications") == 1.0);
  host.clock().advance(1s);
  node.write("cgroup/host-latency-sensitive/nginx/cpu.stat", "usage_usec 1250000\n");
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("host_application_cpu_usage", nginx).value() == doctest::Approx(0.25));
}

TEST_CASE("memory of each NUMA node is anonymous and unevictable memory there") {
  FakeNode node;
  make_nginx(node);
  node.write("cgroup/host-latency-sensitive/nginx/memory.numa_stat",
             "anon N0=1 N1=2\ninactive_anon N0=100 N1=200\nactive_anon N0=10 N1=20\nunevictable N0=1 N1=2\n");
  FakeHost host(node);
  koord::state::Topology topology;
  topology.numa_nodes = {{0, 1 << 20}, {1, 1 << 20}};
  host.hub().publish({.pods = std::vector<koord::state::Pod>{}, .node_slo = std::string(kNginx), .topology = topology});
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("host_application_numa_memory_usage", {{"numa_node_id", "0"}}) == 111.0);
  CHECK(host.value("host_application_numa_memory_usage", {{"numa_node_id", "1"}}) == 222.0);
}

TEST_CASE("an application that the NodeSLO no longer names has no series") {
  FakeNode node;
  make_nginx(node);
  FakeHost host(node);
  publish(host, kNginx);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  publish(host, R"({"hostApplications":[]})");
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.series("host_application_memory_usage").empty());
  CHECK(host.value("host_applications") == 0.0);
}

TEST_CASE("an application is reported under its new class after a change") {
  FakeNode node;
  make_nginx(node);
  FakeHost host(node);
  publish(host, kNginx);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  publish(host, R"({"hostApplications":[{"name":"nginx","priority":"koord-prod","qos":"LSR"}]})");
  host.clock().advance(10s);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.series("host_application_memory_usage").size() == 1);
  CHECK(host.value("host_application_memory_usage", {{"qos", "LSR"}}) == 8192.0);
}

TEST_CASE("a missing state, NodeSLO or cgroup of the application is no error") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory"}});
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  publish(host, kNginx);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("host_applications") == 0.0);
  CHECK(host.series("host_application_memory_usage").empty());
}
