// SPDX-License-Identifier: Apache-2.0
#include "core/state/pod_intake.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/manual_clock.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::state;
using koord::test::FakeNode;

namespace {

using Names = std::vector<std::string>;

std::vector<Pod> pods(const Names& uids) {
  std::vector<Pod> made;
  for (const std::string& uid : uids) {
    made.push_back({.uid = uid, .name = uid, .cgroup_dir = "kubepods/pod" + uid});
  }
  return made;
}

Names uids_of(const std::vector<Pod>& pods) {
  Names uids;
  for (const Pod& pod : pods) uids.push_back(pod.uid);
  return uids;
}

// `running`: pods with cgroups of containers.
PodReview review(const Names& listed, const Names& known, const Names& running) {
  return review_pods(
      pods(listed), pods(known),
      [&](const Pod& pod) { return std::find(running.begin(), running.end(), pod.uid) != running.end(); },
      [&] { return !running.empty(); });
}

// A node with pods that run while their directories have one for a container.
struct Machine {
  explicit Machine(const Names& running) {
    node.write("cgroup/cgroup.controllers", "cpu memory\n");
    node.make_directory("cgroup/kubepods/burstable");
    for (const std::string& uid : running)
      node.make_directory("cgroup/kubepods/pod" + uid + "/" + std::string(64, 'c'));
    intake.emplace(*cgroup::Layout::detect(node.roots()), hub);
  }
  std::string take(const Names& listed, std::vector<std::string> problems = {}) {
    return intake->take({pods(listed), std::move(problems)}, cgroup::default_kube_root(cgroup::Driver::cgroupfs),
                        clock.now());
  }
  Names known() const { return uids_of(hub.current()->pods); }

  FakeNode node;
  ManualClock clock;
  Hub hub;
  std::optional<PodIntake> intake;
};

}  // namespace

TEST_CASE("a pod that is listed no more and has no containers is gone") {
  const PodReview seen = review({"a"}, {"a", "b"}, {"a"});
  CHECK(uids_of(seen.pods) == Names{"a"});
  CHECK(seen.complete);
}

TEST_CASE("a pod that is listed no more stays as long as a container of it has a cgroup") {
  const PodReview seen = review({"a"}, {"a", "b"}, {"a", "b"});
  CHECK(uids_of(seen.pods) == Names{"a", "b"});
  CHECK(seen.kept == 1);
  CHECK(seen.complete);
}

TEST_CASE("a list that lacks more running pods than it has is not all that there is, so nothing is dropped") {
  const PodReview seen = review({"static", "new"}, {"static", "b", "c", "d", "ended"}, {"static", "b", "c", "d"});
  CHECK_FALSE(seen.complete);
  CHECK(uids_of(seen.pods) == Names{"static", "new", "b", "c", "d", "ended"});
}

TEST_CASE("an empty list is trusted only when no pod runs") {
  CHECK_FALSE(review({}, {"a"}, {"a"}).complete);
  CHECK_FALSE(review({}, {}, {"unknown"}).complete);
  CHECK(review({}, {"a"}, {}).complete);
  CHECK(review({}, {"a"}, {}).pods.empty());
}

TEST_CASE("pods are confirmed when they are taken, and again when the server says that nothing changed") {
  Machine node({"a"});
  CHECK(node.take({"a"}).empty());
  CHECK(node.known() == Names{"a"});
  CHECK(node.hub.confirmed(kPods) == node.clock.now());
  node.clock.advance(std::chrono::minutes(1));
  node.intake->confirm(node.clock.now());
  CHECK(node.hub.confirmed(kPods) == node.clock.now());
}

TEST_CASE("a list that is not trusted is reported, and the known pods get old") {
  Machine node({"a", "b"});
  node.take({"a", "b"});
  const Time then = node.clock.now();
  node.clock.advance(std::chrono::minutes(1));
  CHECK(node.take({}) == "no pods are listed while cgroups of pods are there");
  node.intake->confirm(node.clock.now());
  CHECK(node.known() == Names{"a", "b"});
  CHECK(node.hub.confirmed(kPods) == then);
}

TEST_CASE("an empty first list makes the pods known if none run") {
  Machine empty({});
  CHECK(empty.take({}).empty());
  CHECK(empty.hub.confirmed(kPods));
  CHECK(empty.hub.current()->versions.pods == 1);

  Machine busy({"a"});
  CHECK_FALSE(busy.take({}).empty());
  CHECK_FALSE(busy.hub.confirmed(kPods));
  CHECK(busy.hub.current()->versions.pods == 0);
}

TEST_CASE("a cgroup tree without a kubelet's directory proves no empty list") {
  Machine node({});
  node.node.remove("cgroup/kubepods/burstable");
  node.node.remove("cgroup/kubepods");
  CHECK_FALSE(node.take({}).empty());
  CHECK_FALSE(node.hub.confirmed(kPods));
}

TEST_CASE("pods that cannot be read are reported, the others count") {
  Machine node({"a"});
  CHECK(node.take({"a"}, {"p1", "p2", "p3", "p4", "p5"}) == "p1; p2; p3; and 2 more");
  CHECK(node.hub.confirmed(kPods) == node.clock.now());
}

TEST_CASE("the first of two pods with one uid counts, and the other is named") {
  Machine node({"a"});
  PodList list{pods({"a", "b", "a"}), {}};
  list.pods[2].name = "double";
  list.pods[2].namespace_ = "shop";
  CHECK(node.intake->take(std::move(list), cgroup::default_kube_root(cgroup::Driver::cgroupfs), node.clock.now()) ==
        "pod shop/double: metadata.uid: 'a' is that of pod /a, left out");
  CHECK(node.known() == Names{"a", "b"});
  CHECK(node.hub.current()->pods[0].name == "a");
}

TEST_CASE("the sandbox of a pod is among its containers") {
  Machine node({"a"});
  node.take({"a"});
  REQUIRE(node.hub.current()->pods[0].containers.size() == 1);
  CHECK(node.hub.current()->pods[0].containers[0].kind == ContainerKind::sandbox);
}

TEST_CASE("the kubelet's directory is the configured one, unless pods are elsewhere") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu memory\n"}, {"cgroup/kubelet/kubepods/podu1/", ""}});
  const cgroup::Layout layout = *cgroup::Layout::detect(node.roots());
  KubeletConfig config;
  config.cgroup_driver = "cgroupfs";
  config.cgroup_root = "/kubelet";
  CHECK(find_kube_root(layout, config).dir == "kubelet/kubepods");
  config.cgroup_driver = "systemd";
  CHECK(find_kube_root(layout, config).dir == "kubelet/kubepods");
  CHECK(find_kube_root(layout, std::nullopt).dir == "kubelet/kubepods");
}
