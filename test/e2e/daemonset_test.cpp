// SPDX-License-Identifier: Apache-2.0
// The agent in a cluster, as a pod of its DaemonSet: node, NodeSLO and pods reach plugins and operators.
#include <doctest/doctest.h>

#include "daemonset_pod.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr auto kLimit = 60s;
const PodSpec kWeb{.name = "web-0", .uid = "1b4e28ba-2fa1-11d2-883f-0016d3cca427", .digit = 'a', .anon_pages = 1000};
const PodSpec kBatch{.name = "batch-0",
                     .uid = "6fa459ea-ee8a-3ca4-894e-db77e160355e",
                     .digit = 'b',
                     .qos = "BestEffort",
                     .labels = R"({"koordinator.sh/qosClass": "BE"})",
                     .anon_pages = 2000};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string slo(int threshold) {
  return R"({"kind": "NodeSLO", "metadata": {"name": "test-node"}, "spec": {"resourceUsedThresholdWithBE":
    {"enable": true, "cpuSuppressThresholdPercent": )" +
         std::to_string(threshold) + "}}}";
}

}  // namespace

TEST_CASE("pods of the kubelet's list are measured in their cgroups, appear and disappear") {
  DaemonSetPod pod;
  pod.run_pods({kWeb});
  REQUIRE(pod.start());
  CHECK(eventually([&] { return pod.memory_of("web-0") == bytes_of(kWeb); }, kLimit));

  pod.run_pods({kWeb, kBatch});
  CHECK(eventually([&] { return pod.memory_of("batch-0") == bytes_of(kBatch); }, kLimit));
  CHECK(pod.memory_of("web-0") == bytes_of(kWeb));

  pod.run_pods({kBatch});
  CHECK(eventually([&] { return pod.memory_of("web-0") == -1 && pod.seen("witness_pods") == 1; }, kLimit));
  CHECK(pod.memory_of("batch-0") == bytes_of(kBatch));
}

TEST_CASE("a new cgroup of a pod makes the agent ask the kubelet before its next period") {
  DaemonSetPod pod({.kubelet = "syncPeriod: 1h"});
  pod.run_pods({kWeb});
  REQUIRE(pod.start());
  REQUIRE(eventually([&] { return pod.memory_of("web-0") > 0; }, kLimit));
  pod.run_pods({kWeb, kBatch});
  CHECK(eventually([&] { return pod.memory_of("batch-0") > 0; }, kLimit));
}

TEST_CASE("each edit of the NodeSLO reaches a plugin by on_event, and operators by koordctl slo") {
  DaemonSetPod pod;
  pod.cluster.put(slo(60));
  pod.run_pods({kWeb});
  REQUIRE(pod.start());
  REQUIRE(eventually([&] { return pod.seen("witness_threshold") == 60; }, kLimit));
  pod.cluster.put(slo(55));
  CHECK(eventually([&] { return pod.seen("witness_event_threshold") == 55; }, kLimit));
  CHECK(contains(pod.agent.ctl({"slo"}).output, "55"));

  const double before = pod.seen("witness_events", {"part=\"nodeSLO\""});
  pod.cluster.put(
      R"({"kind": "NodeSLO", "metadata": {"name": "another-node"}, "spec": {"resourceUsedThresholdWithBE": {"cpuSuppressThresholdPercent": 1}}})");
  pod.cluster.put(slo(54));
  CHECK(eventually([&] { return pod.seen("witness_event_threshold") == 54; }, kLimit));
  CHECK(pod.seen("witness_events", {"part=\"nodeSLO\""}) == before + 1);
}

TEST_CASE("a NodeSLO that is removed leaves the defaults, and a later one is used") {
  DaemonSetPod pod;
  pod.run_pods({kWeb});
  REQUIRE(pod.start());
  REQUIRE(eventually([&] { return pod.seen("witness_threshold") == 65; }, kLimit));
  pod.cluster.put(slo(40));
  REQUIRE(eventually([&] { return pod.seen("witness_threshold") == 40; }, kLimit));
  pod.cluster.remove("NodeSLO", "test-node");
  CHECK(eventually([&] { return pod.seen("witness_threshold") == 65; }, kLimit));
}

TEST_CASE("a label of the node reaches a plugin") {
  DaemonSetPod pod;
  pod.run_pods({kWeb});
  REQUIRE(pod.start());
  pod.cluster.merge("Node", "test-node", R"({"metadata": {"labels": {"rack": "7"}}})");
  CHECK(eventually([&] { return pod.seen("witness_rack") == 7; }, kLimit));
}

TEST_CASE("requests have the pod's token and the agent's user agent, and none is for an object of another node") {
  DaemonSetPod pod;
  pod.run_pods({kWeb});
  REQUIRE(pod.start());
  pod.cluster.wait_for_requests(R"({"verb": "watch", "kind": "NodeSLO", "status": 200})");
  pod.cluster.wait_for_requests(R"({"server": "kubelet", "path": "/pods", "status": 200})");
  for (const ClusterRequest& request : pod.cluster.requests()) {
    INFO(request.verb, " ", request.path);
    CHECK(request.token == 1);
    CHECK(contains(request.user_agent, "koordetector"));
    CHECK(request.status < 400);
    if (request.verb == "list" || request.verb == "watch") {
      const char* name = request.kind == "ConfigMap" ? "slo-controller-config" : "test-node";
      CHECK(contains(request.path, std::string("fieldSelector=metadata.name%3D") + name));
    }
  }
}
