// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/level_series.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "plugins/shared/latency/histogram.hpp"
#include "test/support/fake_host.hpp"

using koord::latency::CgroupTree;
using koord::latency::Histogram;
using koord::latency::LevelSeries;
using koord::latency::Reading;
using koord::test::FakeHost;
using koord::test::FakeNode;

namespace {

Histogram waits_of(std::uint64_t n) {
  Histogram histogram;
  histogram.count = n;
  histogram.sum_ns = n * 1000;
  histogram.buckets[0] = n;
  return histogram;
}

struct LevelName {
  std::string level;
};

// A series that sums all waits of one subject.
struct CountedSeries {
  CountedSeries() = default;
  CountedSeries(const LevelName& metrics, std::uint64_t) : level(metrics.level) {}
  std::string level;
  std::uint64_t count = 0;
};

using Counts = std::map<std::string, std::uint64_t>;

// A node with a pod and its container. Their cgroups are siblings here, so a container's waits are not counted for its
// pod.
struct NodeWithPod {
  NodeWithPod() {
    pod.uid = pod.name = "pod1";
    pod.cgroup_dir = "pod";
    pod.containers.push_back({.id = "containerd://c", .name = "c", .cgroup_dir = "container"});
    host.hub().publish({.pods = std::vector{pod}});
  }

  std::uint64_t id(const char* cgroup) const { return tree.directory(cgroup).value().id; }
  std::vector<koord::latency::CgroupDirectory> follow() {
    return series.follow(host.abi(), host.service<koord_svc_state>("koord.state/1"), tree);
  }
  // Returns the sum of all waits so far for each level that reports this reading.
  Counts report(const Reading<Histogram>& reading) {
    Counts counts;
    series.report(reading, [&](CountedSeries& of_subject, const Histogram& window) {
      counts[of_subject.level] = of_subject.count += window.count;
    });
    return counts;
  }

  FakeNode node{{"cgroup/cgroup.procs", ""},
                {"cgroup/pod/cgroup.procs", ""},
                {"cgroup/container/cgroup.procs", ""},
                {"proc/self/cgroup", "0::/\n"}};
  FakeHost host{node};
  koord::state::Pod pod;
  CgroupTree tree = CgroupTree::find("cpu", node.path("cgroup"), node.path("proc")).value();
  LevelSeries<Histogram, LevelName, CountedSeries> series{LevelName{"container"}, LevelName{"pod"}, LevelName{"node"}};
};

}  // namespace

TEST_CASE_FIXTURE(NodeWithPod,
                  "pods and containers report the windows of their cgroups, and the node those of all cgroups") {
  CHECK(follow().size() == 2);
  CHECK(report({.cgroups = {{id("pod"), waits_of(3)}, {id("container"), waits_of(4)}}, .unassigned = waits_of(10)}) ==
        Counts{{"container", 4}, {"pod", 3}, {"node", 17}});
}

TEST_CASE_FIXTURE(NodeWithPod, "a subject keeps its series between readings, also after a change of the pods") {
  follow();
  report({.cgroups = {{id("container"), waits_of(4)}}, .unassigned = Histogram{}});
  koord::state::Pod other;
  other.uid = other.name = "pod2";
  host.hub().publish({.pods = std::vector{pod, other}});
  follow();
  CHECK(report({.cgroups = {{id("container"), waits_of(6)}}, .unassigned = Histogram{}}) ==
        Counts{{"container", 6}, {"pod", 0}, {"node", 6}});
}

TEST_CASE_FIXTURE(NodeWithPod, "the last waits of a removed cgroup reach the container that had it") {
  const std::uint64_t container = id("container");
  follow();
  report({.cgroups = {{container, waits_of(4)}}, .unassigned = Histogram{}});
  node.remove("cgroup/container");
  CHECK(follow().size() == 1);
  CHECK(report({.ended = {{container, waits_of(9)}}, .unassigned = Histogram{}})["container"] == 9);
}

TEST_CASE_FIXTURE(NodeWithPod, "a source that does not see the whole node reports pods and containers only") {
  follow();
  CHECK(report({.cgroups = {{id("pod"), waits_of(3)}}}) == Counts{{"container", 0}, {"pod", 3}});
}

TEST_CASE_FIXTURE(NodeWithPod, "another source begins with its present totals, and no wait counts twice") {
  follow();
  report({.cgroups = {{id("container"), waits_of(4)}}, .unassigned = waits_of(1)});
  series.restart({.cgroups = {{id("container"), waits_of(90)}}, .unassigned = waits_of(50)});
  CHECK(report({.cgroups = {{id("container"), waits_of(92)}}, .unassigned = waits_of(53)}) ==
        Counts{{"container", 6}, {"pod", 0}, {"node", 10}});
}
