// SPDX-License-Identifier: Apache-2.0
// Values read from answers of Kubernetes 1.24 to 1.34 and from Koordinator's objects: test/support/fixtures/kubernetes.
#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "core/base/file.hpp"
#include "core/state/node_metric_spec.hpp"
#include "core/state/objects.hpp"
#include "core/state/slo.hpp"

using namespace koord;
using namespace koord::state;

namespace {

const cgroup::KubeRoot kSystemd = cgroup::default_kube_root(cgroup::Driver::systemd);
const cgroup::KubeRoot kCgroupfs = cgroup::default_kube_root(cgroup::Driver::cgroupfs);
constexpr std::int64_t kMi = 1 << 20, kGi = 1 << 30;

std::string fixture(const std::string& name) {
  return *read_file(std::string(KOORD_KUBERNETES_FIXTURES) + "/" + name, 1 << 20);
}

// Returns all pods of the answer; none may be left out.
std::vector<Pod> pods_of(const std::string& version, const cgroup::KubeRoot& root = kSystemd) {
  PodList list = *parse_served_pods(fixture("pods-" + version + ".json"), root);
  for (const std::string& problem : list.problems) MESSAGE(problem);
  CHECK(list.problems.empty());
  return std::move(list.pods);
}

Resource resource(const std::vector<Resource>& resources, std::string_view name) {
  for (const Resource& candidate : resources)
    if (candidate.name == name) return candidate;
  return {};
}

}  // namespace

TEST_CASE("1.24: a pod of cri-dockerd, and a static pod under the hash of its file") {
  std::vector<Pod> pods = pods_of("1.24", kCgroupfs);
  REQUIRE(pods.size() == 2);
  CHECK(pods[0].owner_kind == "ReplicaSet");
  CHECK(pods[0].containers[0].cgroup_dir ==
        "kubepods/burstable/pod6f6c2f0a-24aa-4c1e-9d4e-000000000024/" + std::string(64, 'a'));
  CHECK(resource(pods[0].resources, "cpu") == Resource{"cpu", 250, 500});
  CHECK(resource(pods[0].resources, "memory") == Resource{"memory", 64 * kMi, 128 * kMi});
  CHECK(pods[1].uid == "0d1c2b3a4f5e6d7c8b9a0f1e2d3c4b5a");
  CHECK(pods[1].cgroup_dir == "kubepods/burstable/pod0d1c2b3a4f5e6d7c8b9a0f1e2d3c4b5a");
  CHECK(pods[1].priority == 2000001000);
  CHECK(pods[1].priority_class == PriorityClass::prod);
}

TEST_CASE("1.26: cri-o; a job that has ended, a pod that is being made, a container to debug another") {
  std::vector<Pod> pods = pods_of("1.26");
  REQUIRE(pods.size() == 3);
  CHECK(pods[0].phase == Phase::succeeded);
  CHECK(pods[0].koord_qos == KoordQos::be);
  CHECK(pods[0].priority_class == PriorityClass::batch);
  CHECK(pods[0].containers[0].state == ContainerState::terminated);
  CHECK(resource(pods[0].resources, "kubernetes.io/batch-cpu") == Resource{"kubernetes.io/batch-cpu", 1000, 2000});
  CHECK(pods[1].phase == Phase::pending);
  CHECK(pods[1].containers[0].kind == ContainerKind::init);
  CHECK(pods[1].containers[0].state == ContainerState::waiting);
  CHECK(pods[1].containers[1].cgroup_dir.empty());
  REQUIRE(pods[2].containers.size() == 2);
  CHECK(pods[2].containers[1].kind == ContainerKind::ephemeral);
  CHECK(pods[2].containers[1].cgroup_dir ==
        "kubepods.slice/kubepods-pod6f6c2f0a_26aa_4c1e_9d4e_000000000003.slice/crio-" + std::string(64, 'e') +
            ".scope");
  CHECK(resource(pods[2].resources, "cpu") == Resource{"cpu", 1000, 1000});
}

TEST_CASE("1.28: a sidecar among the init containers, and the overhead of a sandbox") {
  std::vector<Pod> pods = pods_of("1.28");
  REQUIRE(pods.size() == 1);
  REQUIRE(pods[0].containers.size() == 4);
  CHECK(pods[0].containers[0].kind == ContainerKind::init);
  CHECK(pods[0].containers[1].kind == ContainerKind::sidecar);
  CHECK(pods[0].containers[1].state == ContainerState::running);
  CHECK(pods[0].containers[3].kind == ContainerKind::regular);
  CHECK(resource(pods[0].resources, "cpu") == Resource{"cpu", 2250, 2250});
  CHECK(resource(pods[0].resources, "memory") == Resource{"memory", 736 * kMi, 736 * kMi});
}

TEST_CASE("1.31: a pod with a requested end, with a device and CPUs of its own") {
  std::vector<Pod> pods = pods_of("1.31");
  REQUIRE(pods.size() == 1);
  CHECK(pods[0].deleting);
  CHECK(pods[0].phase == Phase::running);
  CHECK(pods[0].koord_qos == KoordQos::lsr);
  CHECK(pods[0].annotations.at("scheduling.koordinator.sh/resource-status") == R"({"cpuset":"2-3"})");
  CHECK_FALSE(pods[0].annotations.contains("kubectl.kubernetes.io/last-applied-configuration"));
  CHECK(resource(pods[0].resources, "nvidia.com/gpu") == Resource{"nvidia.com/gpu", 1, 1});
}

TEST_CASE("1.32: amounts stated for the whole pod, and an impossible resize, shown by a field") {
  std::vector<Pod> pods = pods_of("1.32");
  REQUIRE(pods.size() == 2);
  CHECK(resource(pods[0].resources, "cpu") == Resource{"cpu", 1000, 2000});
  CHECK(resource(pods[0].resources, "memory") == Resource{"memory", kGi, 2 * kGi});
  CHECK(resource(pods[0].containers[0].resources, "cpu") == Resource{"cpu", 500, kNoResource});
  CHECK(resource(pods[1].resources, "cpu") == Resource{"cpu", 2000, 2000});
}

TEST_CASE("1.34: resizes that wait or are impossible, shown by a condition, and a QoS class of the whole pod") {
  std::vector<Pod> pods = pods_of("1.34");
  REQUIRE(pods.size() == 3);
  CHECK(resource(pods[0].containers[0].resources, "cpu") == Resource{"cpu", 2000, 2000});
  CHECK(resource(pods[0].resources, "memory") == Resource{"memory", kGi, kGi});
  CHECK(resource(pods[1].resources, "cpu") == Resource{"cpu", 1000, 1000});
  CHECK(pods[2].kube_qos == KubeQos::guaranteed);
  CHECK(resource(pods[2].resources, "cpu") == Resource{"cpu", 2000, 2000});
  CHECK(pods[2].containers[0].resources.empty());
}

TEST_CASE("a mirror pod of the API server has its own uid and the static pod's cgroup") {
  Pod pod = *parse_pod(fixture("mirror-pod-1.30.json"), kSystemd);
  CHECK(pod.uid == "aaaaaaaa-30aa-4c1e-9d4e-000000000030");
  CHECK(pod.owner_kind == "Node");
  CHECK(pod.cgroup_dir ==
        "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f2e3d4c5b6a79880f1e2d3c4b5a6978.slice");
}

TEST_CASE("the kubelet's configuration is read whatever else a version has in it") {
  KubeletConfig old = *parse_kubelet_config(fixture("configz-1.24.json"));
  CHECK(old.cgroup_driver == "cgroupfs");
  CHECK(old.cgroup_root.empty());
  CHECK(old.cpu_manager_policy == "none");
  CHECK(old.reserved_cpus.empty());
  KubeletConfig middle = *parse_kubelet_config(fixture("configz-1.28.json"));
  CHECK(middle.cgroup_driver == "systemd");
  CHECK(middle.cgroup_root == "/");
  CHECK(middle.cpu_manager_options.at("full-pcpus-only") == "true");
  CHECK(middle.topology_manager_policy == "best-effort");
  CHECK(middle.topology_manager_scope == "pod");
  CHECK(middle.reserved_cpus == "0-1");
  CHECK(middle.system_reserved.at("cpu") == 500);
  CHECK(middle.kube_reserved.at("pid") == 1000);
  KubeletConfig recent = *parse_kubelet_config(fixture("configz-1.34.json"));
  CHECK(recent.cpu_manager_policy == "static");
  CHECK(recent.cpu_manager_options.size() == 2);
  CHECK(recent.topology_manager_policy == "single-numa-node");
  CHECK(recent.reserved_cpus == "0,8");
  CHECK(recent.kube_reserved.at("memory") == 3 * kGi / 2);
}

TEST_CASE("a node has exact amounts, its addresses and the kubelet's port in every version") {
  for (const char* version : {"1.24", "1.34"}) {
    CAPTURE(version);
    Node node = *parse_node(fixture(std::string("node-") + version + ".json"));
    CHECK(node.name == "node-1");
    CHECK(node.uid.starts_with("5c1d2e3f-"));
    CHECK(node.capacity.at("cpu") == 16000);
    CHECK(node.capacity.at("memory") == 65806364 * std::int64_t{1024});
    CHECK(node.allocatable.at("cpu") == 15500);
    CHECK(node.allocatable.at("ephemeral-storage") == 93478772582);
    CHECK(node.addresses.front() == NodeAddress{"InternalIP", "10.0.0.7"});
    CHECK(node.kubelet_port == 10250);
  }
  Node recent = *parse_node(fixture("node-1.34.json"));
  CHECK(recent.allocatable.at("kubernetes.io/batch-cpu") == 6000);
  CHECK(recent.allocatable.at("kubernetes.io/batch-memory") == 16 * kGi);
  CHECK(recent.annotations.contains("node.koordinator.sh/reservation"));
}

TEST_CASE("NodeSLOs as the manager writes them are taken whole") {
  EffectiveSlo plain = *effective_slo(*parse_node_slo(fixture("nodeslo-plain.json")));
  CHECK(plain.problems.empty());
  EffectiveSlo colocation = *effective_slo(*parse_node_slo(fixture("nodeslo-colocation.json")));
  CHECK(colocation.problems.empty());
  const boost::json::value spec = boost::json::parse(colocation.spec);
  auto at = [&](const char* pointer) { return spec.at_pointer(pointer); };
  CHECK(at("/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent") == 60);
  CHECK(at("/resourceUsedThresholdWithBE/evictEnabledPriorityThreshold") == 5999);
  CHECK(at("/resourceQOSStrategy/policies/netQOSPolicy") == "tc");
  CHECK(at("/resourceQOSStrategy/beClass/memoryQOS/wmarkRatio") == 90);
  CHECK(at("/resourceQOSStrategy/beClass/memoryQOS/wmarkMinAdj") == 50);
  CHECK(at("/resourceQOSStrategy/beClass/resctrlQOS/catRangeStartPercent") == 0);
  CHECK(at("/resourceQOSStrategy/beClass/blkioQOS/blocks/0/ioCfg/ioWeightPercent") == 40);
  CHECK(at("/resourceQOSStrategy/lsrClass/memoryQOS/wmarkRatio") == 0);
  CHECK(at("/cpuBurstStrategy/cfsQuotaBurstPercent") == 300);
  CHECK(at("/systemStrategy/totalNetworkBandwidth") == "10G");
  CHECK(at("/hostApplications/0/cgroupPath/parentDir") == "system.slice");
  CHECK(at("/extensions/network-qos/enable") == true);
}

TEST_CASE("NodeMetrics as the manager writes them say what to report") {
  CHECK(parse_node_metric_spec(fixture("nodemetric.json"))->spec == NodeMetricSpec());
  ReadNodeMetricSpec brief = *parse_node_metric_spec(fixture("nodemetric-short.json"));
  CHECK(brief.problems.empty());
  CHECK(brief.spec.aggregate == std::chrono::seconds(60));
  CHECK(brief.spec.windows.size() == 3);
}
