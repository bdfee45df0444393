// SPDX-License-Identifier: Apache-2.0
#include "core/state/hub.hpp"

#include <doctest/doctest.h>

using namespace koord::state;

namespace {

Container container(std::string id, std::uint64_t incarnation = 0) {
  Container made;
  made.id = std::move(id);
  made.name = "main";
  made.incarnation = incarnation;
  return made;
}

Pod pod(std::string uid, std::vector<Container> containers = {}) {
  Pod made;
  made.uid = std::move(uid);
  made.containers = std::move(containers);
  return made;
}

std::uint32_t publish_pods(Hub& hub, std::vector<Pod> pods) { return hub.publish({.pods = std::move(pods)}); }

std::uint32_t publish_standalone(Hub& hub, std::vector<Container> containers) {
  return hub.publish({.standalone = std::move(containers)});
}

}  // namespace

TEST_CASE("before the first publish all is empty and nothing has a version") {
  Hub hub;
  CHECK(hub.current()->pods.empty());
  CHECK(hub.current()->versions.pods == 0);
}

TEST_CASE("a part's version grows only when the part changed") {
  Hub hub;
  CHECK(publish_pods(hub, {pod("a")}) == kPods);
  CHECK(publish_pods(hub, {pod("a")}) == 0);
  CHECK(hub.publish({.node_slo = "{}"}) == kNodeSlo);
  CHECK(publish_pods(hub, {pod("a"), pod("b")}) == kPods);
  CHECK(hub.current()->versions.pods == 2);
  CHECK(hub.current()->versions.node_slo == 1);
  CHECK(hub.current()->versions.topology == 0);
}

TEST_CASE("the first publish of an empty part is a change: it is known now") {
  Hub hub;
  CHECK(publish_pods(hub, {}) == kPods);
  CHECK(hub.current()->versions.pods == 1);
}

TEST_CASE("a part left out stays as it is") {
  Hub hub;
  publish_pods(hub, {pod("a")});
  CHECK(publish_standalone(hub, {container("docker://x")}) == kPods);
  CHECK(hub.current()->pods.size() == 1);
  CHECK(hub.current()->standalone.size() == 1);
}

TEST_CASE("a held snapshot never changes") {
  Hub hub;
  publish_pods(hub, {pod("a")});
  SnapshotPtr held = hub.current();
  publish_pods(hub, {});
  CHECK(held->pods.size() == 1);
  CHECK(hub.current()->pods.empty());
}

TEST_CASE("a handle stays while the uid and the id live, and is never given again") {
  Hub hub;
  publish_pods(hub, {pod("a", {container("c://1")})});
  std::uint64_t pod_handle = hub.current()->pods[0].handle;
  std::uint64_t container_handle = hub.current()->pods[0].containers[0].handle;
  CHECK(pod_handle != container_handle);
  publish_pods(hub, {pod("0"), pod("a", {container("c://1")})});
  CHECK(hub.current()->pods[1].handle == pod_handle);
  CHECK(hub.current()->pods[1].containers[0].handle == container_handle);
  publish_pods(hub, {});
  publish_pods(hub, {pod("a")});
  CHECK(hub.current()->pods[0].handle > container_handle);
}

TEST_CASE("a restarted container is another subject") {
  Hub hub;
  std::vector<std::uint64_t> ended;
  hub.on_subject_end([&](std::uint64_t handle) { ended.push_back(handle); });
  publish_pods(hub, {pod("a", {container("c://1")})});
  std::uint64_t first = hub.current()->pods[0].containers[0].handle;
  publish_pods(hub, {pod("a", {container("c://2")})});
  CHECK(hub.current()->pods[0].containers[0].handle != first);
  CHECK(ended == std::vector{first});
}

TEST_CASE("a service with a new cgroup is another subject") {
  Hub hub;
  publish_standalone(hub, {container("systemd://x.service", 1)});
  std::uint64_t first = hub.current()->standalone[0].handle;
  publish_standalone(hub, {container("systemd://x.service", 2)});
  CHECK(hub.current()->standalone[0].handle != first);
}

TEST_CASE("an ended pod ends with its containers, before the change is reported") {
  Hub hub;
  std::vector<std::string> reported;
  hub.subscribe([&](std::uint32_t, const SnapshotPtr&) { reported.push_back("change"); });
  hub.on_subject_end([&](std::uint64_t) { reported.push_back("end"); });
  publish_pods(hub, {pod("a", {container("c://1")})});
  publish_pods(hub, {});
  CHECK(reported == std::vector<std::string>{"change", "end", "end", "change"});
}

TEST_CASE("a subscriber gets the mask and the snapshot, and nothing after its removal") {
  Hub hub;
  std::uint32_t mask = 0;
  std::uint64_t version = 0;
  std::uint64_t id = hub.subscribe([&](std::uint32_t changed, const SnapshotPtr& snapshot) {
    mask = changed;
    version = snapshot->versions.node_slo;
  });
  hub.publish({.pods = std::vector<Pod>{}, .node_slo = "{}"});
  CHECK(mask == (kPods | kNodeSlo));
  CHECK(version == 1);
  hub.remove(id);
  hub.publish({.node_slo = "{\"a\":1}"});
  CHECK(version == 1);
}

TEST_CASE("the first of two pods with one uid counts") {
  Hub hub;
  Pod first = pod("a"), second = pod("a");
  first.name = "first";
  second.name = "second";
  publish_pods(hub, {first, second});
  REQUIRE(hub.current()->pods.size() == 1);
  CHECK(hub.current()->pods[0].name == "first");
}

TEST_CASE("containers without an id are distinguished by pod and name") {
  Hub hub;
  publish_pods(hub, {pod("a", {container("")}), pod("b", {container("")})});
  CHECK(hub.current()->pods[0].containers[0].handle != hub.current()->pods[1].containers[0].handle);
}
