// SPDX-License-Identifier: Apache-2.0
#include "core/service/snapshot_view.hpp"

#include <doctest/doctest.h>

#include "koordetector/plugin.hpp"

using namespace koord;
using namespace koord::service;
using koord::plugin::view;

namespace {

state::Pod web_pod() {
  state::Pod pod;
  pod.handle = 7;
  pod.uid = "uid-7";
  pod.namespace_ = "shop";
  pod.name = "web-0";
  pod.kube_qos = state::KubeQos::burstable;
  pod.koord_qos = state::KoordQos::lsr;
  pod.priority = 9500;
  pod.priority_class = state::PriorityClass::prod;
  pod.phase = state::Phase::running;
  pod.labels = {{"app", "web"}, {"tier", "front"}};
  pod.annotations = {{"note", "x"}};
  pod.owner_kind = "StatefulSet";
  pod.owner_name = "web";
  pod.cgroup_dir = "kubepods.slice/pod7.slice";
  pod.resources = {{"cpu", 500, 1000}, {"memory", 1 << 20, -1}};
  state::Container container;
  container.handle = 8;
  container.id = "containerd://abc";
  container.name = "main";
  container.kind = state::ContainerKind::sidecar;
  container.state = state::ContainerState::running;
  container.resources = {{"cpu", 250, -1}};
  pod.containers = {container, container};
  pod.containers[1].handle = 9;
  return pod;
}

SnapshotView view_with(std::vector<state::Pod> pods, std::vector<state::Container> standalone = {}) {
  auto snapshot = std::make_shared<state::Snapshot>();
  snapshot->versions.pods = 1;
  snapshot->pods = std::move(pods);
  snapshot->standalone = std::move(standalone);
  return SnapshotView(std::move(snapshot));
}

}  // namespace

TEST_CASE("a pod's record says what the pod is") {
  const SnapshotView snapshot = view_with({web_pod()});
  const koord_pod& pod = snapshot.pods()[0];
  CHECK(pod.struct_size == sizeof(koord_pod));
  CHECK(pod.handle == 7);
  CHECK(view(pod.uid) == "uid-7");
  CHECK(view(pod.ns) == "shop");
  CHECK(view(pod.name) == "web-0");
  CHECK(view(pod.cgroup_dir) == "kubepods.slice/pod7.slice");
  CHECK(pod.qos == KOORD_QOS_LSR);
  CHECK(pod.kube_qos == KOORD_KUBE_QOS_BURSTABLE);
  CHECK(pod.priority == 9500);
  CHECK(pod.priority_class == KOORD_PRIORITY_PROD);
  CHECK(pod.phase == KOORD_PHASE_RUNNING);
  CHECK(pod.start_time_ns == KOORD_ABSENT);
  CHECK(view(pod.owner_kind) == "StatefulSet");
}

TEST_CASE("a pod's labels, resources and containers are its own") {
  state::Pod other = web_pod();
  other.handle = 17;
  other.labels = {{"app", "db"}};
  const SnapshotView snapshot = view_with({web_pod(), other});
  const koord_pod& first = snapshot.pods()[0];
  const koord_pod& second = snapshot.pods()[1];
  REQUIRE(first.n_labels == 2);
  CHECK(view(first.labels[1].key) == "tier");
  REQUIRE(second.n_labels == 1);
  CHECK(view(second.labels[0].value) == "db");
  CHECK(view(second.annotations[0].value) == "x");
  REQUIRE(second.n_containers == 2);
  CHECK(second.containers[1].handle == 9);
  CHECK(view(second.containers[1].resources[0].name) == "cpu");
}

TEST_CASE("a quantity that was not given is absent, never 0") {
  const SnapshotView snapshot = view_with({web_pod()});
  const koord_pod& pod = snapshot.pods()[0];
  CHECK(pod.resources[0].request == 500);
  CHECK(pod.resources[0].limit == 1000);
  CHECK(pod.resources[1].limit == KOORD_ABSENT);
  CHECK(pod.containers[0].resources[0].limit == KOORD_ABSENT);
}

TEST_CASE("a container's record says its kind and state") {
  const SnapshotView snapshot = view_with({web_pod()});
  const koord_container& container = snapshot.pods()[0].containers[0];
  CHECK(container.kind == KOORD_CONTAINER_SIDECAR);
  CHECK(container.state == KOORD_CONTAINER_RUNNING);
  CHECK(view(container.id) == "containerd://abc");
}

TEST_CASE("a node's resources have what is allocatable as request and the capacity as limit") {
  auto snapshot = std::make_shared<state::Snapshot>();
  snapshot->versions.node = 3;
  snapshot->node.name = "n1";
  snapshot->node.capacity = {{"cpu", 8000}, {"memory", 1 << 30}};
  snapshot->node.allocatable = {{"cpu", 7000}, {"kubernetes.io/batch-cpu", 2000}};
  const SnapshotView view_of_node(snapshot);
  const koord_node* node = view_of_node.node();
  REQUIRE(node);
  REQUIRE(node->n_resources == 3);
  CHECK(node->resources[0].request == 7000);
  CHECK(node->resources[0].limit == 8000);
  CHECK(view(node->resources[1].name) == "kubernetes.io/batch-cpu");
  CHECK(node->resources[1].limit == KOORD_ABSENT);
  CHECK(node->resources[2].request == KOORD_ABSENT);
}

TEST_CASE("unknown fields of a CPU are UINT32_MAX") {
  auto snapshot = std::make_shared<state::Snapshot>();
  snapshot->versions.topology = 1;
  snapshot->topology.cpus = {{0, 0, 0, 0, 2, true, true}, {1, -1, -1, 0, -1, false, false}};
  snapshot->topology.numa_nodes = {{0, 1 << 30}};
  const SnapshotView view_of_topology(snapshot);
  const koord_topology* topology = view_of_topology.topology();
  REQUIRE(topology);
  CHECK(topology->cpus[0].l3 == 2);
  CHECK(topology->cpus[0].flags == (KOORD_CPU_ONLINE | KOORD_CPU_RESERVED));
  CHECK(topology->cpus[1].core == UINT32_MAX);
  CHECK(topology->cpus[1].flags == 0);
  CHECK(topology->numa_nodes[0].memory_bytes == 1 << 30);
}

TEST_CASE("a CPU's record has its owner, and the node's has the reserved amount") {
  auto snapshot = std::make_shared<state::Snapshot>();
  snapshot->versions.node = snapshot->versions.topology = 1;
  for (int cpu = 0; cpu < 6; ++cpu) snapshot->topology.cpus.push_back({.cpu = cpu, .online = true});
  auto owners = std::make_shared<state::CpuOwners>();
  owners->reserved = CpuSet::parse("0").value();
  owners->reserved_cpu_milli = 500;
  owners->system = CpuSet::parse("1").value();
  owners->lse = CpuSet::parse("2").value();
  owners->lsr = CpuSet::parse("3").value();
  owners->pinned = CpuSet::parse("4").value();
  snapshot->cpu_owners = owners;
  const SnapshotView all(snapshot);
  const std::uint32_t expected[] = {KOORD_CPU_RESERVED, KOORD_CPU_SYSTEM, KOORD_CPU_LSE,
                                    KOORD_CPU_LSR,      KOORD_CPU_PINNED, 0};
  for (std::size_t cpu = 0; cpu < 6; ++cpu)
    CHECK(all.topology()->cpus[cpu].flags == (KOORD_CPU_ONLINE | expected[cpu]));
  CHECK(all.node()->reserved_cpu == 500);
  CHECK(all.node()->reserved_memory == KOORD_ABSENT);
  owners->system_exclusive = false;
  CHECK(SnapshotView(snapshot).topology()->cpus[1].flags == KOORD_CPU_ONLINE);
}

TEST_CASE("the labels of a subject follow from what it is") {
  state::Container service;
  service.handle = 30;
  service.id = service.name = "nginx.service";
  const SnapshotView snapshot = view_with({web_pod()}, {service});
  const metric::Labels of_pod = {{"pod_uid", "uid-7"}, {"pod_name", "web-0"}, {"pod_namespace", "shop"}};
  metric::Labels of_container = {{"container_id", "containerd://abc"}, {"container_name", "main"}};
  of_container.insert(of_container.end(), of_pod.begin(), of_pod.end());
  CHECK(snapshot.subject(7)->labels == of_pod);
  CHECK(snapshot.subject(8)->labels == of_container);
  CHECK(snapshot.subject(30)->labels.size() == 2);
  CHECK_FALSE(snapshot.subject(31));
}

TEST_CASE("an empty snapshot knows nothing") {
  const SnapshotView snapshot(std::make_shared<state::Snapshot>());
  CHECK_FALSE(snapshot.knows_anything());
  CHECK(snapshot.pods().empty());
}
