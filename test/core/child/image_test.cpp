// SPDX-License-Identifier: Apache-2.0
#include "core/child/image.hpp"

#include <doctest/doctest.h>

#include "core/child/memory_file.hpp"
#include "core/service/snapshot_view.hpp"
#include "koordetector/plugin.hpp"

using namespace koord;
using namespace koord::child;
using koord::plugin::view;

namespace {

state::Container container(std::uint64_t handle, const std::string& name) {
  state::Container container;
  container.handle = handle;
  container.id = "containerd://" + name;
  container.name = name;
  container.cgroup_dir = "pod/" + name;
  container.resources = {{"cpu", 250, -1}};
  return container;
}

service::SnapshotView whole_node() {
  auto snapshot = std::make_shared<state::Snapshot>();
  snapshot->versions = {.node = 1, .pods = 2, .node_slo = 3, .topology = 4};
  snapshot->node.name = "node-1";
  snapshot->node.labels = {{"zone", "a"}};
  snapshot->node.capacity = {{"cpu", 8000}};
  state::Pod pod;
  pod.handle = 7;
  pod.uid = "uid-7";
  pod.name = "web";
  pod.labels = {{"app", "web"}, {"empty", ""}};
  pod.annotations = {{"note", "x"}};
  pod.resources = {{"cpu", 500, 1000}, {"memory", 1 << 20, -1}};
  pod.containers = {container(8, "main"), container(9, "side")};
  snapshot->pods = {pod, pod};
  snapshot->pods[1].name = "db";
  snapshot->standalone = {container(10, "alone")};
  snapshot->node_slo = R"({"strategy": {}})";
  snapshot->topology.cpus = {
      {.cpu = 0, .core = 1, .socket = 2, .numa_node = 3, .l3 = 4, .online = true, .reserved = false}};
  return service::SnapshotView(std::move(snapshot));
}

void check_whole_node(const ImageRoot& root) {
  CHECK(root.versions[0] == 1);
  CHECK(root.versions[3] == 4);
  REQUIRE(root.node);
  CHECK(view(root.node->name) == "node-1");
  CHECK(view(root.node->labels[0].value) == "a");
  CHECK(root.node->resources[0].limit == 8000);
  REQUIRE(root.n_pods == 2);
  const koord_pod& pod = root.pods[0];
  CHECK(view(pod.name) == "web");
  CHECK(view(root.pods[1].name) == "db");
  CHECK(view(pod.labels[1].key) == "empty");
  CHECK(view(pod.labels[1].value).empty());
  CHECK(view(pod.annotations[0].value) == "x");
  CHECK(view(pod.resources[1].name) == "memory");
  CHECK(pod.resources[1].request == 1 << 20);
  REQUIRE(pod.n_containers == 2);
  CHECK(view(pod.containers[1].id) == "containerd://side");
  CHECK(view(pod.containers[1].resources[0].name) == "cpu");
  REQUIRE(root.n_containers == 1);
  CHECK(view(root.containers[0].cgroup_dir) == "pod/alone");
  CHECK(view(root.node_slo) == R"({"strategy": {}})");
  REQUIRE(root.topology);
  CHECK(root.topology->cpus[0].l3 == 4);
}

}  // namespace

TEST_CASE("an image has the whole snapshot, opened from bytes or from shared memory") {
  std::string bytes = image_of(whole_node());
  SUBCASE("from bytes") { check_whole_node(Image::open(bytes)->root()); }
  SUBCASE("from shared memory") { check_whole_node(Image::open(*memory_with(bytes, true))->root()); }
}

TEST_CASE("an image can be opened many times") {
  UniqueFd fd = *memory_with(image_of(whole_node()), true);
  Image first = *Image::open(UniqueFd(::dup(fd.get())));
  Image second = *Image::open(std::move(fd));
  check_whole_node(first.root());
  check_whole_node(second.root());
}

TEST_CASE("parts that are not known are absent") {
  service::SnapshotView nothing(std::make_shared<state::Snapshot>());
  Image image = *Image::open(image_of(nothing));
  CHECK(image.root().node == nullptr);
  CHECK(image.root().topology == nullptr);
  CHECK(image.root().n_pods == 0);
  CHECK(view(image.root().node_slo).empty());
}

TEST_CASE("the subject of a hook travels alone") {
  service::SnapshotView all = whole_node();
  const koord_pod& pod = all.pods()[1];
  Image with = *Image::open(image_of(pod, &pod.containers[1]));
  CHECK(view(with.root().pods->name) == "db");
  CHECK(view(with.root().containers->name) == "side");
  Image without = *Image::open(image_of(pod, nullptr));
  CHECK(without.root().n_containers == 0);
}
