// SPDX-License-Identifier: Apache-2.0
// From a strategy in a process of its own to pods of an API server, through a real agent.
#include <doctest/doctest.h>

#include "core/workshop/node_tree.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord::test;
using koord::workshop::NodeTree;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A best-effort pod that asks for one core of what is lent.
std::string pod(const std::string& name, const std::string& uid, const std::string& more_metadata = "") {
  return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + name + R"(", "namespace": "shop", "uid": ")" + uid +
         R"(", "labels": {"koordinator.sh/qosClass": "BE"})" + more_metadata +
         R"(}, "spec": {"nodeName": "test-node", "containers": [{"name": "app", "image": "i", "resources": {"requests": )"
         R"({"kubernetes.io/batch-cpu": "1000"}, "limits": {"kubernetes.io/batch-cpu": "1000"}}}]}, )"
         R"("status": {"phase": "Running", "qosClass": "BestEffort"}})";
}

// A node with three such pods, known to kubelet and API server, and an agent whose strategy wants one core back.
struct Node {
  explicit Node(const std::string& mode) {
    cluster.fault("graceful_deletion", R"({"on": true})");
    tree.write("cgroup/cgroup.controllers", "cpu memory\n");
    std::string list;
    for (const char* name : {"a", "b", "c"}) {
      const std::string uid = std::string("uid-") + name;
      tree.make_directory("cgroup/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-poduid_" + std::string(name) +
                          ".slice/cri-containerd-" + std::string(64, *name) + ".scope");
      cluster.put(pod(name, uid));
      list += (list.empty() ? "" : ",") + pod(name, uid);
    }
    cluster.set_pods("[" + list + "]");
    agent.emplace("  settings: {releaser: {mode: " + mode + ", config: {amount: 1000}}}\nfeatureGates: {Releaser: true}\nroots: {cgroup: \"" +
                      tree.path("cgroup") + "\"}\ncluster: {kubeconfig: \"" + cluster.kubeconfig() +
                      "\"}\nstate: {source: kubelet, kubelet: {caFile: \"" + cluster.kubelet_ca() + "\", timeout: 5s, syncPeriod: 1s}}\n",
                  std::vector<std::string>{built("test/e2e/plugins")});
  }
  bool start() { return agent->start({"--set", "qos.directory=" + agent->folder() / "qos"}); }

  std::size_t asked() { return cluster.requests(R"({"verb": "create", "subresource": "eviction"})").size(); }
  bool is_going(const std::string& name) { return contains(cluster.get("Pod", name, "shop").value_or("deletionTimestamp"), "deletionTimestamp"); }
  double counted(const std::string& result) const {
    return find_metric(agent->metrics(), "koordetector_host_evictions_total", {"feature=\"BECPUEvict\"", "result=\"" + result + "\""}).value_or(0);
  }

  NodeTree tree;
  TestCluster cluster;
  std::optional<AgentProcess> agent;
};

}  // namespace

TEST_CASE("a strategy's request ends one pod through the API server, and a victim that goes slowly no other") {
  Node node("enforce");
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.counted("evicted") == 1; }));
  CHECK(node.is_going("a"));
  CHECK(contains(node.agent->get("/api/v1/capabilities"), R"("name":"eviction","state":"supported")"));
  // The kubelet lists it as Terminating from now on; ten more rounds of the strategy.
  const std::string ending = pod("a", "uid-a", R"(, "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30)");
  node.cluster.set_pods("[" + ending + "," + pod("b", "uid-b") + "," + pod("c", "uid-c") + "]");
  CHECK(eventually([&] { return node.counted("pending") == 1; }));
  const auto listed = node.cluster.requests(R"({"server": "kubelet", "path": "/pods"})").size();
  node.cluster.wait_for_requests(R"({"server": "kubelet", "path": "/pods", "count": )" + std::to_string(listed + 3) + "}");
  CHECK(node.asked() == 1);
  CHECK_FALSE(node.is_going("b"));
  const std::string decisions = node.agent->get("/api/v1/decisions");
  CHECK_MESSAGE((contains(decisions, R"("knob":"eviction")") && contains(decisions, R"("evicted")")), decisions);
  CHECK(contains(node.agent->get("/api/v1/events"), "evictPodSuccess"));
  CHECK(eventually([&] { return contains(node.cluster.command("list", R"({"kind": "Event"})"), "evictPodSuccess"); }));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("by default a strategy is in shadow: what it would evict is told, and nobody goes") {
  Node node("shadow");
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.counted("shadow") == 1; }));
  CHECK(node.asked() == 0);
  CHECK_FALSE(node.is_going("a"));
  CHECK(node.agent->stop() == 0);
}
