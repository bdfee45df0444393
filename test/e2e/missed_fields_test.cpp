// SPDX-License-Identifier: Apache-2.0
// A container runs without fields that only a creation can set: the agent reports it to the operator and the cluster.
#include <doctest/doctest.h>

#include <filesystem>

#include "core/workshop/node_tree.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/eventually.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord::test;
using koord::workshop::NodeTree;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

constexpr const char* kPod =
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
    "spec": {"nodeName": "test-node", "containers": [{"name": "app", "image": "i"}]},
    "status": {"phase": "Running", "qosClass": "Burstable", "containerStatuses": [{"name": "app", "state": {"running": {}},
      "containerID": "containerd://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}]}})";

// A node with a pod that exists before its hook runs.
struct Node {
  Node() {
    tree.write("cgroup/cgroup.controllers", "cpu memory\n");
    tree.make_directory("cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu1.slice/"
                        "cri-containerd-" +
                        std::string(64, 'a') + ".scope");
    cluster.put(kPod);
    cluster.set_pods("[" + std::string(kPod) + "]");
    agent.emplace(
        "featureGates: {Careless: true}\nqos: {mode: enforce}\nroots: {cgroup: \"" + tree.path("cgroup") +
        "\"}\ncluster: {kubeconfig: \"" + cluster.kubeconfig() + "\"}\nhooks: {nri: {socket: \"\"}, deadline: 1s}\n" +
        "state: {source: kubelet, kubelet: {caFile: \"" + cluster.kubelet_ca() + "\", timeout: 5s, syncPeriod: 1s}}\n");
    std::filesystem::copy_file(built("test/e2e/plugins/careless_hook.so"),
                               agent->plugin_folder() + "/careless_hook.so");
  }

  NodeTree tree;
  TestCluster cluster;
  std::optional<AgentProcess> agent;
};

}  // namespace

TEST_CASE("a container without a hook's environment is reported as an Event of its pod and as an event of the agent") {
  Node node;
  REQUIRE(node.agent->start());
  std::string events;
  const auto is_reported = [&] {
    events = node.cluster.command("list", R"({"kind": "Event"})");
    return contains(events, "HookFieldsMissed");
  };
  CHECK_MESSAGE(eventually(is_reported), node.agent->log());
  for (const char* part : {"container app runs without env:FROM_CARELESS, env:ANNOTATIONS of careless-hook", "\"web\"",
                           "\"shop\"", "Warning"})
    CHECK_MESSAGE(contains(events, part), part << " is not in " << events);
  const std::string own = node.agent->get("/api/v1/events");
  CHECK_MESSAGE(contains(own, R"("container_name":"app")"), own);
  CHECK_FALSE(contains(own, R"("container":)"));
  CHECK(node.agent->stop() == 0);
}
