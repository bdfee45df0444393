// SPDX-License-Identifier: Apache-2.0
// koordetector/subjects.hpp with the host's real services: which pods and containers have a meter, and for how long.
#include "koordetector/subjects.hpp"

#include <doctest/doctest.h>

#include <set>

#include "core/state/pod.hpp"
#include "test/support/fake_host.hpp"

using koord::plugin::CgroupValues;
using koord::plugin::Failure;
using koord::plugin::Snapshot;
using koord::plugin::Subject;
using koord::plugin::Subjects;
using koord::state::Container;
using koord::state::Pod;
using koord::test::FakeHost;
using koord::test::FakeNode;

namespace {

struct Meter {
  int made;  // the number of the meter, in order of creation
};

// A pod with two containers, one of them terminated, and a service outside of pods.
struct Followed {
  FakeNode node{{{"cgroup/cgroup.controllers", "cpu memory"}}};
  FakeHost host{node};
  Subjects<Meter> subjects;
  int made = 0;

  Pod pod() const {
    Pod pod;
    pod.uid = pod.name = "p1";
    pod.cgroup_dir = "kubepods/p1";
    pod.containers.push_back({.id = "containerd://c1", .name = "main", .cgroup_dir = "kubepods/p1/c1"});
    pod.containers.push_back({.id = "containerd://c2", .name = "done", .cgroup_dir = "kubepods/p1/c2"});
    pod.containers.back().state = koord::state::ContainerState::terminated;
    return pod;
  }
  void publish(Pod pod) {
    Container service;
    service.name = "nginx.service";
    service.cgroup_dir = "system.slice/nginx.service";
    host.hub().publish({.pods = std::vector{std::move(pod)}, .standalone = std::vector{service}});
  }
  bool follow() {
    Snapshot snapshot(host.abi(), host.service<koord_svc_state>("koord.state/1"));
    return subjects.follow(snapshot, [this](const Subject&) { return Meter{++made}; });
  }
  std::set<std::string> cgroups() {
    std::set<std::string> dirs;
    subjects.for_each([&](Meter&, std::string_view dir) { dirs.emplace(dir); });
    return dirs;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Followed, "a pod, its running containers and a program outside of pods have one meter each") {
  publish(pod());
  CHECK(follow());
  CHECK(cgroups() == std::set<std::string>{"kubepods/p1", "kubepods/p1/c1", "system.slice/nginx.service"});
}

TEST_CASE_FIXTURE(Followed, "while the pods are the same no meter is created") {
  publish(pod());
  follow();
  CHECK_FALSE(follow());
  CHECK(made == 3);
}

TEST_CASE_FIXTURE(Followed, "a subject that stays keeps its meter, one that ends loses it") {
  publish(pod());
  follow();
  Pod fewer = pod();
  fewer.containers.erase(fewer.containers.begin());
  publish(fewer);
  CHECK(follow());
  CHECK(made == 3);
  CHECK(cgroups() == std::set<std::string>{"kubepods/p1", "system.slice/nginx.service"});
}

TEST_CASE_FIXTURE(Followed, "a container that moved to another cgroup has a new meter") {
  publish(pod());
  follow();
  Pod moved = pod();
  moved.containers[0].cgroup_dir = "kubepods/elsewhere";
  publish(moved);
  follow();
  CHECK(made == 4);
  CHECK(cgroups().count("kubepods/elsewhere") == 1);
}

TEST_CASE_FIXTURE(Followed, "a failing meter does not stop the reads of the others") {
  publish(pod());
  follow();
  int turns = 0;
  auto failure = subjects.for_each([&](Meter&, std::string_view dir) {
    ++turns;
    if (dir == "kubepods/p1/c1") throw Failure(KOORD_E_IO, "c1 is broken");
  });
  CHECK(turns == 3);
  REQUIRE(failure);
  CHECK(failure->what() == std::string("c1 is broken"));
}

TEST_CASE_FIXTURE(Followed, "a missing cgroup has no value, and is read once it exists") {
  CgroupValues<1> usage("cpu.usage", {"usage_ns"});
  const auto* cgroup = host.service<koord_svc_cgroup>("koord.cgroup/1");
  CHECK_FALSE(usage.read(host.abi(), cgroup, "late", 0));
  node.write("cgroup/late/cpu.stat", "usage_usec 7\n");
  CHECK_FALSE(usage.read(host.abi(), cgroup, "late", CgroupValues<1>::kRetryNs - 1));
  auto reading = usage.read(host.abi(), cgroup, "late", CgroupValues<1>::kRetryNs);
  REQUIRE(reading);
  CHECK(reading->values[0] == 7000);
}

TEST_CASE_FIXTURE(Followed, "the error of an unreadable file names the file and its cgroup") {
  node.write("cgroup/odd/cpu.stat/folder", "");
  CgroupValues<1> usage("cpu.usage", {"usage_ns"});
  CHECK_THROWS_WITH(usage.read(host.abi(), host.service<koord_svc_cgroup>("koord.cgroup/1"), "odd", 0),
                    "cannot read cpu.usage of the cgroup 'odd'");
}

TEST_CASE_FIXTURE(Followed, "a file that this kernel lacks never has a value") {
  node.write("cgroup/bare/cgroup.procs", "");
  CgroupValues<1> limit("memory.limit", {"limit_bytes"});
  const auto* cgroup = host.service<koord_svc_cgroup>("koord.cgroup/1");
  CHECK_FALSE(limit.read(host.abi(), cgroup, "bare", 0));
  CHECK(limit.unsupported());
}
