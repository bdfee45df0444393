// SPDX-License-Identifier: Apache-2.0
#include "core/state/sandboxes.hpp"

#include <doctest/doctest.h>

#include "core/state/file_source.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::state;
using koord::test::FakeNode;

namespace {

constexpr const char* kSlice = "kubepods.slice/kubepods-podu1.slice";

cgroup::Layout layout_of(const FakeNode& node) { return cgroup::Layout::detect(node.roots()).value(); }

std::string scope(const std::string& id) { return std::string(kSlice) + "/cri-containerd-" + id + ".scope"; }

void make_scope(FakeNode& node, const std::string& id) { node.make_directory("cgroup/" + scope(id)); }

FakeNode& on_v2(FakeNode& node) {
  node.write("cgroup/cgroup.controllers", "cpu memory\n");
  return node;
}

Pod pod_with(std::vector<std::string> ids) {
  Pod pod;
  pod.uid = "u1";
  pod.cgroup_dir = kSlice;
  for (const std::string& id : ids)
    pod.containers.push_back({.id = "containerd://" + id, .name = id, .cgroup_dir = scope(id)});
  return pod;
}

// Returns the sandbox's id; "" if no sandbox is found.
std::string found(Sandboxes& sandboxes, const FakeNode& node, const Pod& pod) {
  std::vector<Pod> pods = {pod};
  sandboxes.add_to(pods, layout_of(node));
  const Container& last = pods[0].containers.empty() ? Container() : pods[0].containers.back();
  return last.kind == ContainerKind::sandbox ? last.id : "";
}

}  // namespace

TEST_CASE("the one directory of a pod that no listed container has is its sandbox") {
  FakeNode node;
  on_v2(node);
  for (const char* id : {"app", "pause"}) make_scope(node, id);
  std::vector<Pod> pods = {pod_with({"app"})};
  Sandboxes().add_to(pods, layout_of(node));
  REQUIRE(pods[0].containers.size() == 2);
  const Container& sandbox = pods[0].containers[1];
  CHECK(sandbox.id == "containerd://pause");
  CHECK(sandbox.name == "POD");
  CHECK(sandbox.kind == ContainerKind::sandbox);
  CHECK(sandbox.state == ContainerState::running);
  CHECK(sandbox.cgroup_dir == scope("pause"));
}

TEST_CASE("with cgroupfs the sandbox's runtime is that of the pod's containers") {
  FakeNode node;
  on_v2(node);
  for (const char* id : {"app", "pause"}) node.make_directory(std::string("cgroup/kubepods/podu1/") + id);
  Pod pod;
  pod.uid = "u1";
  pod.cgroup_dir = "kubepods/podu1";
  pod.containers.push_back({.id = "docker://app", .cgroup_dir = "kubepods/podu1/app"});
  Sandboxes sandboxes;
  CHECK(found(sandboxes, node, pod) == "docker://pause");
}

TEST_CASE("if two directories are not listed, neither is the sandbox, unless it was the sandbox before") {
  FakeNode node;
  on_v2(node);
  for (const char* id : {"pause", "new"}) make_scope(node, id);
  Sandboxes sandboxes;
  CHECK(found(sandboxes, node, pod_with({})) == "");
  CHECK(found(sandboxes, node, pod_with({"new"})) == "containerd://pause");
  make_scope(node, "restarted");
  CHECK(found(sandboxes, node, pod_with({"new"})) == "containerd://pause");
}

TEST_CASE("a runtime's directories beside containers are no sandbox, nor is a plain directory") {
  FakeNode node;
  on_v2(node);
  make_scope(node, "app");
  node.make_directory(std::string("cgroup/") + kSlice + "/crio-conmon-app.scope");
  node.make_directory(std::string("cgroup/") + kSlice + "/some.slice");
  Sandboxes sandboxes;
  CHECK(found(sandboxes, node, pod_with({"app"})) == "");
}

TEST_CASE("a pod without a cgroup has no sandbox") {
  FakeNode node;
  on_v2(node);
  Pod pod = pod_with({});
  Sandboxes sandboxes;
  CHECK(found(sandboxes, node, pod) == "");
  pod.cgroup_dir.clear();
  CHECK(found(sandboxes, node, pod) == "");
}

TEST_CASE("a pod list from a file gets its sandboxes when the cgroups appear, though the file does not change") {
  FakeNode node({{"run/pods.yaml", "items: [{metadata: {uid: u1, name: n}, status: {qosClass: Guaranteed}}]\n"}});
  on_v2(node);
  FileSource::Options options;
  options.pods = node.path("run/pods.yaml");
  options.kube_root = cgroup::default_kube_root(cgroup::Driver::systemd);
  options.layout = layout_of(node);
  Hub hub;
  FileSource source(options, hub);
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods.at(0).containers.empty());
  make_scope(node, "pause");
  REQUIRE(source.refresh());
  REQUIRE(hub.current()->pods.at(0).containers.size() == 1);
  const std::uint64_t handle = hub.current()->pods[0].containers[0].handle;
  REQUIRE(source.refresh());
  CHECK(hub.current()->pods[0].containers[0].handle == handle);
  CHECK(hub.current()->versions.pods == 2);
}
