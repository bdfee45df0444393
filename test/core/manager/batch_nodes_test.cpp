// SPDX-License-Identifier: Apache-2.0
#include "core/manager/batch_nodes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace koord;
using namespace koord::manager;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kWall = 1'767'323'045'000'000'000;

struct Cluster : BatchNodes {
  Cluster() : BatchNodes(Options{}) { colocate(R"({"enable": true})"); }

  void colocate(const std::string& document) {
    ColocationSettings settings;
    CHECK(settings.take(document) == "");
    set_colocation(now, settings, !document.empty());
  }
  state::Node node(const std::string& name, std::optional<CpuMemory> batch = std::nullopt) const {
    state::Node node;
    node.name = name;
    node.capacity = node.allocatable = {{"cpu", 10'000}, {"memory", 10'000}};
    if (batch) {
      node.allocatable["kubernetes.io/batch-cpu"] = batch->cpu;
      node.allocatable["kubernetes.io/batch-memory"] = batch->memory;
    }
    return node;
  }
  void report(const std::string& name, std::int64_t system_cpu) {
    NodeUsage usage;
    usage.update_time = std::to_string(++reports);
    usage.update_ns = kWall;
    usage.system = {system_cpu, 0};
    take_metric(now, kWall, name, usage);
  }
  // Completes the next patch and returns its body; empty if no patch is due.
  std::string write() {
    const auto patch = next(now);
    if (!patch) return "";
    ended(now, patch->node, true, ++version);
    return patch->body;
  }

  Time now{1h};
  int reports = 0;
  std::uint64_t version = 10;
};

std::string with(std::int64_t cpu, std::int64_t memory) { return status_patch({{kBatch, CpuMemory{cpu, memory}}}); }

}  // namespace

TEST_CASE("a node gets batch resources with its first report, and fewer when a prod pod uses more") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"));
  CHECK(cluster.write() == "");
  cluster.report("n", 1'000);
  CHECK(cluster.write() == with(5'000, 6'500));
  CHECK(cluster.write() == "");
  cluster.now += 1min;
  cluster.report("n", 3'000);
  CHECK(cluster.write() == with(3'000, 6'500));
  CHECK(cluster.counts().granted == 1);
  CHECK(cluster.counts().withdrawn == 1);
}

TEST_CASE("a pod's request counts until its use is reported, and moves with the pod") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"));
  cluster.take_node(cluster.now, cluster.node("m"));
  PodFacts pod{"s/p", "n", true, state::KoordQos::ls, state::PriorityClass::prod, {2'000, 0}};
  cluster.take_pod(cluster.now, pod);
  cluster.report("n", 0);
  CHECK(cluster.write() == with(4'000, 6'500));
  pod.node = "m";
  cluster.take_pod(cluster.now, pod);
  cluster.report("m", 0);
  std::vector<std::string> writes{cluster.write(), cluster.write()};
  CHECK(std::count(writes.begin(), writes.end(), with(4'000, 6'500)) == 1);
  CHECK(std::count(writes.begin(), writes.end(), with(6'000, 6'500)) == 1);
  cluster.now += 1min;
  cluster.remove_pod(cluster.now, "s/p");
  CHECK(cluster.write() == with(6'000, 6'500));
}

TEST_CASE("an interval that is shorter than that of agents makes no node silent") {
  Cluster cluster;
  cluster.colocate(R"({"enable": true, "metricReportIntervalSeconds": 5})");
  cluster.take_node(cluster.now, cluster.node("n"));
  cluster.report("n", 0);
  CHECK(cluster.write() == with(6'000, 6'500));
  for (int second = 0; second < 115; ++second, cluster.now += 1s) CHECK(cluster.write() == "");
  cluster.now += 10s;  // three intervals of 30 s and the grace are over
  CHECK(cluster.write() == with(4'500, 4'875));
}

TEST_CASE("without settings for colocation no node is touched") {
  Cluster cluster;
  cluster.colocate("");
  cluster.take_node(cluster.now, cluster.node("n", CpuMemory{5, 5}));
  cluster.report("n", 0);
  CHECK(cluster.write() == "");
}

TEST_CASE("colocation that is switched off removes what a node has") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"));
  cluster.report("n", 0);
  CHECK(cluster.write() == with(6'000, 6'500));
  cluster.colocate(R"({"enable": false})");
  CHECK(cluster.write() == status_patch({{kBatch, std::nullopt}}));
  CHECK(cluster.write() == "");
}

TEST_CASE("a failed patch is tried again after five seconds") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"));
  cluster.report("n", 0);
  const auto patch = cluster.next(cluster.now);
  REQUIRE(patch);
  CHECK_FALSE(cluster.next(cluster.now));
  cluster.ended(cluster.now, "n", false);
  CHECK(cluster.write() == "");
  cluster.now += 5s;
  CHECK(cluster.write() == patch->body);
  CHECK(cluster.counts().failed == 1);
}

TEST_CASE("a node with values that another program keeps changing is left alone") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"));
  cluster.report("n", 0);
  int writes = 0;
  for (int i = 0; i < 50; ++i) {
    if (!cluster.write().empty()) ++writes;
    cluster.now += 1s;
    cluster.take_node(cluster.now, cluster.node("n", CpuMemory{9'000, 9'000}), ++cluster.version);
  }
  CHECK(writes == 3);
  CHECK(cluster.bounds().contested(cluster.now) == 1);
}

TEST_CASE("the watch's echo of a patch is no other program's, nor is an event from before it") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"), 1);
  cluster.report("n", 0);
  CHECK(cluster.write() != "");
  cluster.take_node(cluster.now, cluster.node("n"), 2);
  cluster.take_node(cluster.now, cluster.node("n", CpuMemory{6'000, 6'500}), cluster.version);
  CHECK(cluster.bounds().overwrites() == 0);
  CHECK(cluster.write() == "");
}

TEST_CASE("a change by another program that is seen before our own answer is not lost") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"), 1);
  cluster.report("n", 0);
  const auto patch = cluster.next(cluster.now);
  REQUIRE(patch);
  cluster.take_node(cluster.now, cluster.node("n", CpuMemory{9'000, 9'000}), 5);
  cluster.ended(cluster.now, "n", true, 4);
  CHECK(cluster.bounds().overwrites() == 1);
  CHECK(cluster.write() == with(6'000, 6'500));
}

TEST_CASE("after a take-over no node loses anything before it could report again") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n", CpuMemory{6'000, 6'500}));
  cluster.report("n", 0);
  cluster.now += 1h;
  cluster.restart(cluster.now, kWall + 3'600'000'000'000);
  for (int i = 0; i < 180; ++i, cluster.now += 1s) REQUIRE(cluster.write() == "");
  CHECK(cluster.freshness(cluster.now).at(BatchGrant::Freshness::stale) == 1);
  for (int i = 0; i < 900; ++i, cluster.now += 1s) cluster.write();
  CHECK(cluster.freshness(cluster.now).at(BatchGrant::Freshness::gone) == 1);
  CHECK(cluster.counts().removed == 1);
}

TEST_CASE("a removed node is forgotten with its pods, reports and pods of unknown nodes write nothing") {
  Cluster cluster;
  cluster.report("ghost", 0);
  cluster.take_pod(cluster.now, {"s/p", "ghost", true, state::KoordQos::ls, state::PriorityClass::prod, {1, 1}});
  CHECK(cluster.write() == "");
  cluster.take_node(cluster.now, cluster.node("n"));
  cluster.report("n", 0);
  cluster.remove_node("n");
  CHECK(cluster.write() == "");
  cluster.remove_pod(cluster.now, "s/p");
  CHECK(cluster.freshness(cluster.now).empty());
}

TEST_CASE("a report of a node that does not exist is forgotten after a minute, however often it comes again") {
  Cluster cluster;
  for (int i = 0; i < 6; ++i) {
    cluster.report("ghost", 0);
    CHECK(cluster.remove_unknown(cluster.now).empty());
    CHECK(cluster.known() == 1);
    cluster.now += 10s;
  }
  CHECK(cluster.remove_unknown(cluster.now) == std::vector<std::string>{"ghost"});
  CHECK(cluster.known() == 0);
  cluster.report("ghost", 0);
  CHECK(cluster.remove_unknown(cluster.now).empty());
}

TEST_CASE("a report of a node that was removed is forgotten, and its pods are kept for its return") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"));
  cluster.take_pod(cluster.now, {"s/p", "n", true, state::KoordQos::ls, state::PriorityClass::prod, {2'000, 0}});
  cluster.report("n", 0);
  cluster.remove_node("n");
  cluster.report("n", 0);
  cluster.now += 1min;
  CHECK(cluster.remove_unknown(cluster.now) == std::vector<std::string>{"n"});
  cluster.take_node(cluster.now, cluster.node("n"));
  cluster.write();
  CHECK(cluster.counts().granted == 0);
  cluster.report("n", 0);
  CHECK(cluster.write() == with(4'000, 6'500));
}

TEST_CASE("a report that comes before its node counts once the node is there, and is then kept") {
  Cluster cluster;
  cluster.report("n", 1'000);
  cluster.now += 59s;
  CHECK(cluster.remove_unknown(cluster.now).empty());
  cluster.take_node(cluster.now, cluster.node("n"));
  CHECK(cluster.write() == with(5'000, 6'500));
  cluster.now += 1min;
  CHECK(cluster.remove_unknown(cluster.now).empty());
  CHECK(cluster.known() == 1);
}

TEST_CASE("each node has its turn") {
  Cluster cluster;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.take_node(cluster.now, cluster.node(name));
    cluster.report(name, 0);
  }
  std::set<std::string> written;
  while (const auto patch = cluster.next(cluster.now)) {
    written.insert(patch->node);
    cluster.ended(cluster.now, patch->node, true);
    REQUIRE(written.size() <= 100);
  }
  CHECK(written.size() == 100);
}

TEST_CASE("a new leader grants nothing by a report that is older than three periods, or from the future") {
  for (const std::int64_t minutes : {-10, 10}) {
    Cluster cluster;
    cluster.take_node(cluster.now, cluster.node("n"));
    cluster.report("n", 0);
    cluster.restart(cluster.now, kWall + minutes * 60'000'000'000);
    CHECK(cluster.write() == "");
    cluster.report("n", 0);
    CHECK(cluster.write() == with(6'000, 6'500));
  }
}

TEST_CASE("the other replica's writes do not count as another program's after it led meanwhile") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"), 1);
  cluster.report("n", 0);
  CHECK(cluster.write() != "");
  cluster.forget_writes();
  cluster.take_node(cluster.now, cluster.node("n", CpuMemory{5'000, 5'000}), ++cluster.version);
  cluster.restart(cluster.now, kWall);
  CHECK(cluster.bounds().overwrites() == 0);
}

TEST_CASE("a new leader does not leave a node alone because of what it saw before") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"));
  cluster.report("n", 0);
  for (int i = 0; i < 5; ++i) {
    cluster.write();
    cluster.take_node(cluster.now, cluster.node("n", CpuMemory{9'000, 9'000}), ++cluster.version);
  }
  REQUIRE(cluster.bounds().contested(cluster.now) == 1);
  cluster.forget_writes();
  cluster.restart(cluster.now, kWall);
  CHECK(cluster.bounds().contested(cluster.now) == 0);
  CHECK(cluster.bounds().overwrites() == 3);
  CHECK(cluster.write() == with(6'000, 6'500));
}

TEST_CASE("the pods of a node that returns still count") {
  Cluster cluster;
  cluster.take_node(cluster.now, cluster.node("n"));
  cluster.take_pod(cluster.now, {"s/p", "n", true, state::KoordQos::ls, state::PriorityClass::prod, {2'000, 0}});
  cluster.report("n", 0);
  CHECK(cluster.write() == with(4'000, 6'500));
  cluster.remove_node("n");
  CHECK(cluster.freshness(cluster.now).empty());
  cluster.take_node(cluster.now, cluster.node("n"));
  CHECK(cluster.write() == "");  // the report is older than the change
  cluster.report("n", 0);
  CHECK(cluster.write() == with(4'000, 6'500));
}

TEST_CASE("a node that never existed is forgotten with its last pod and report") {
  Cluster cluster;
  cluster.report("ghost", 0);
  cluster.take_pod(cluster.now, {"s/p", "ghost", true, state::KoordQos::ls, state::PriorityClass::prod, {1, 1}});
  cluster.take_pod(cluster.now, {"s/q", "other", true, state::KoordQos::ls, state::PriorityClass::prod, {1, 1}});
  cluster.take_node(cluster.now, cluster.node("n"));
  CHECK(cluster.known() == 3);
  cluster.remove_pod(cluster.now, "s/p");
  CHECK(cluster.known() == 3);
  cluster.remove_metric("ghost");
  cluster.remove_pod(cluster.now, "s/q");
  CHECK(cluster.known() == 1);
  cluster.remove_node("n");
  CHECK(cluster.known() == 0);
}
