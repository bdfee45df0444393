// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sys-resource/sys_resource.hpp"

#include <doctest/doctest.h>

#include "koordetector/plugin.hpp"
#include "test/support/fake_host.hpp"

using namespace koord::sys_resource;
using koord::plugin::Batch;
using koord::plugin::Metric;
using koord::test::FakeHost;
using koord::test::FakeInstance;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kGrace = 10 * kSecond;

using Parts = std::map<std::uint32_t, double>;

PodRoll roll_of(std::vector<PodRoll::Pod> pods) {
  PodRoll roll(kGrace);
  roll.follow(pods, 0);
  return roll;
}

// Measurements of other advisors: a node with two NUMA nodes, a pod and a host application.
class Measured {
 public:
  explicit Measured(FakeHost& host) : host_(host) {
    koord::state::Pod pod;
    pod.uid = pod.name = "pod1";
    pod.phase = koord::state::Phase::running;
    koord::state::Topology topology;
    for (int i : {0, 1}) {
      topology.cpus.push_back({.cpu = i, .numa_node = i, .online = true});
      topology.numa_nodes.push_back({i, 1 << 20});
    }
    host.hub().publish({.pods = std::vector{pod}, .topology = topology});
    pod_ = host.hub().current()->pods[0].handle;
  }

  void node() {
    send("node_cpu_usage", 3.0);
    send("node_memory_usage", 1000);
    for (const char* id : {"0", "1"}) {
      send("node_numa_cpu_usage", *id == '0' ? 2.0 : 1.0, KOORD_NO_SUBJECT, {{"numa_node_id", id}});
      send("node_numa_memory_usage", 500, KOORD_NO_SUBJECT, {{"numa_node_id", id}});
    }
  }
  void pod() {
    send("pod_cpu_usage", 1.0, pod_);
    send("pod_memory_usage", 300, pod_);
    for (const char* id : {"0", "1"}) send("pod_numa_memory_usage", 150, pod_, {{"numa_node_id", id}});
  }
  void application() {
    send("host_applications", 1);
    send("host_application_cpu_usage", 0.5, KOORD_NO_SUBJECT, {{"host_app_name", "nginx"}});
    send("host_application_memory_usage", 100, KOORD_NO_SUBJECT, {{"host_app_name", "nginx"}});
    for (const char* id : {"0", "1"})
      send("host_application_numa_memory_usage", 50, KOORD_NO_SUBJECT,
           {{"host_app_name", "nginx"}, {"numa_node_id", id}});
  }
  void send(const char* name, double value, std::uint64_t subject = KOORD_NO_SUBJECT,
            std::initializer_list<koord::plugin::Label> labels = {}) {
    Batch batch(host_.abi());
    batch.add(Metric(host_.abi(), {name, "", "", 0.01}).series(subject, labels), value);
    batch.send(koord::to_ns(host_.clock().now()));
  }

 private:
  FakeHost& host_;
  std::uint64_t pod_ = 0;
};

}  // namespace

TEST_CASE("the sum includes the pods of the node, and no others in the history") {
  CHECK(roll_of({{1}, {2}}).sum({{1, 0.5}, {2, 0.25}, {3, 9}}, kSecond) == 0.75);
}

TEST_CASE("without pods the sum is 0") { CHECK(roll_of({}).sum({}, kSecond) == 0.0); }

TEST_CASE("while a running pod has no sample yet there is no sum") {
  const PodRoll roll = roll_of({{1}, {2}});
  CHECK_FALSE(roll.sum({{1, 0.5}}, kGrace - 1));
  CHECK(roll.sum({{1, 0.5}}, kGrace) == 0.5);
}

TEST_CASE("if pods run and none has a sample they are not measured, and there is never a sum") {
  CHECK_FALSE(roll_of({{1}, {2}}).sum({}, 100 * kGrace));
}

TEST_CASE("a pod that does not run yet may lack a sample, and counts if it has one") {
  const PodRoll roll = roll_of({{1}, {2, false}});
  CHECK(roll.sum({{1, 0.5}}, kSecond) == 0.5);
  CHECK(roll.sum({{1, 0.5}, {2, 0.25}}, kSecond) == 0.75);
}

TEST_CASE("a pod's grace period begins when it runs, and no change of other pods restarts it") {
  PodRoll roll(kGrace);
  roll.follow({{1}, {2, false}}, 0);
  roll.follow({{1}, {2, true}}, 5 * kSecond);
  roll.follow({{1}, {2, true}, {3, false}}, 14 * kSecond);
  CHECK_FALSE(roll.sum({{1, 0.5}}, 14 * kSecond));
  CHECK(roll.sum({{1, 0.5}}, 15 * kSecond) == 0.5);
}

TEST_CASE("without host applications the sum is zero") { CHECK(ApplicationRoll(kGrace).sum({}, kSecond) == 0.0); }

TEST_CASE("an existing host application without a sample makes the sum unknown, but only for a limited time") {
  ApplicationRoll roll(kGrace);
  roll.follow(2, kSecond);
  CHECK_FALSE(roll.sum({{0, 0.5}}, 2 * kSecond));
  CHECK(roll.sum({{0, 0.5}, {0, 0.25}}, 2 * kSecond) == 0.75);
  CHECK(roll.sum({{0, 0.5}}, kSecond + kGrace) == 0.5);
}

TEST_CASE("the system has the rest, at least 0, and is unknown if a part is unknown") {
  CHECK(rest(3.0, 1.0, 0.5) == 1.5);
  CHECK(rest(3.0, 3.25, 0.0) == 0.0);
  CHECK_FALSE(rest(std::nullopt, 1.0, 0.0));
  CHECK_FALSE(rest(3.0, std::nullopt, 0.0));
  CHECK_FALSE(rest(3.0, 1.0, std::nullopt));
}

TEST_CASE("a NUMA node has the same share of the system's CPU as of all used CPU") {
  CHECK(numa_parts(1.5, {{0, 2.0}, {1, 1.0}}) == Parts{{0, 1.0}, {1, 0.5}});
  CHECK(numa_parts(0.0, {{0, 0.0}, {1, 0.0}}) == Parts{{0, 0.0}, {1, 0.0}});
  CHECK(numa_parts(1.5, {{0, 2.0}, {1, std::nullopt}}).empty());
}

TEST_CASE("the system is the node without pods and host applications, whole and by NUMA node") {
  FakeNode node;
  FakeHost host(node);
  Measured measured(host);
  measured.node();
  measured.pod();
  measured.application();
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("sys_cpu_usage") == 1.5);
  CHECK(host.value("sys_memory_usage") == 600.0);
  CHECK(host.value("sys_numa_cpu_usage", {{"numa_node_id", "0"}}) == 1.0);
  CHECK(host.value("sys_numa_cpu_usage", {{"numa_node_id", "1"}}) == 0.5);
  CHECK(host.value("sys_numa_memory_usage", {{"numa_node_id", "1"}}) == 300.0);
}

TEST_CASE("the first value waits for the pods and is not the usage of the whole node") {
  FakeNode node;
  FakeHost host(node);
  Measured measured(host);
  measured.node();
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK_FALSE(host.value("sys_cpu_usage"));
  CHECK_FALSE(host.value("sys_numa_memory_usage", {{"numa_node_id", "0"}}));
  host.clock().advance(1s);
  measured.pod();
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("sys_cpu_usage") == 2.0);
}

TEST_CASE("without an advisor for host applications their usage is 0") {
  FakeNode node;
  FakeHost host(node);
  Measured measured(host);
  measured.node();
  measured.pod();
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_OK);
  CHECK(host.value("sys_memory_usage") == 700.0);
}

TEST_CASE("measurements older than the maximum age are ignored, and that age is configurable") {
  for (const auto& [config, known] : {std::pair("{}", false), std::pair(R"({"maxAge":"1m"})", true)}) {
    FakeNode node;
    FakeHost host(node, config);
    Measured measured(host);
    measured.pod();
    host.clock().advance(11s);
    measured.node();
    FakeInstance advisor(host, koord_entry_v1());
    REQUIRE(advisor.init() == KOORD_OK);
    CHECK(advisor.collect() == KOORD_OK);
    CHECK(host.value("sys_cpu_usage").has_value() == known);
  }
}

TEST_CASE("a maximum age that is not a time is refused with the expected form") {
  FakeNode node;
  FakeHost host(node, R"({"maxAge":"0s"})");
  FakeInstance advisor(host, koord_entry_v1());
  CHECK(advisor.init() == KOORD_E_INVALID);
  CHECK(advisor.why() == "maxAge: '0s' is not a time that is longer than nothing, as 10s");
}

TEST_CASE("while the pods are unknown the tick reports that") {
  FakeNode node;
  FakeHost host(node);
  FakeInstance advisor(host, koord_entry_v1());
  REQUIRE(advisor.init() == KOORD_OK);
  CHECK(advisor.collect() == KOORD_E_AGAIN);
}
