// SPDX-License-Identifier: Apache-2.0
// The whole agent reports directly to the aggregated API, in addition to its reports to an API server.
#include <doctest/doctest.h>

#include <memory>

#include "core/aggregated/store.hpp"
#include "core/workshop/node_tree.hpp"
#include "test/core/report/stub_manager.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord::test;
using koord::workshop::NodeTree;
using namespace std::chrono_literals;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A node with a pod, its cluster, a manager, and an agent that measures the node.
struct Node {
  NodeTree tree;
  TestCluster cluster;
  koord::aggregated::Store store{koord::aggregated::kLeastVersion};
  std::unique_ptr<StubManager> manager = std::make_unique<StubManager>(store);
  const std::string address = manager->address();
  std::optional<AgentProcess> agent;

  explicit Node(const std::string& more = {}) {
    tree.write("cgroup/cgroup.controllers", "cpu memory\n");
    tree.make_directory(
        "cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poduid_web.slice/cri-containerd-" +
        std::string(64, 'a') + ".scope");
    cluster.set_pods(
        R"([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "uid-web"},)"
        R"("spec": {"nodeName": "test-node", "containers": [{"name": "app", "image": "i"}]},)"
        R"("status": {"phase": "Running", "qosClass": "Burstable"}}])");
    agent.emplace(
        "roots: {cgroup: \"" + tree.path("cgroup") + "\"}\ncluster: {kubeconfig: \"" + cluster.kubeconfig() +
            "\"}\nstate: {kubelet: {caFile: \"" + cluster.kubelet_ca() +
            "\", syncPeriod: 1s}}\nreport: {createNodeMetric: true, direct: {enabled: true, period: 1s, window: 5s, address: \"" +
            address + "\", serverName: koord-manager.koordetector.svc, caFile: " + manager_certificates().pem("ca") +
            more + "}}\n",
        std::vector<std::string>{built("plugins/advisor-node-resource")});
  }
  std::string report() const { return agent->ctl({"report"}).output; }
  double count(const char* result) const {
    return find_metric(agent->metrics(), "koordetector_report_direct_total", {"result=\"" + std::string(result) + "\""})
        .value_or(-1);
  }
  // Returns the gauge that the agent does not write the NodeMetric; -1: unknown.
  double idle() const {
    return find_metric(agent->metrics(), "koordetector_report_idle", {"object=\"NodeMetric\""}).value_or(-1);
  }
};

}  // namespace

TEST_CASE("an agent reports to the manager within seconds, and continues its other reports when the manager is gone") {
  Node node;
  REQUIRE(node.agent->start());
  CHECK(eventually([&] { return node.store.find("test-node") != nullptr; }, 60s));
  CHECK(eventually([&] { return node.count("accepted") >= 2; }, 60s));
  CHECK(contains(node.report(), "ok, to " + node.address));
  CHECK(contains(node.agent->ctl({"report", "-o", "json"}).output, "\"manager\":\"" + node.address + "\""));
  node.manager.reset();
  CHECK(eventually([&] { return contains(node.agent->get("/readyz"), "no direct report to koord-manager: "); }, 60s));
  CHECK(node.count("failed") >= 1);
  // The agent created it, as without direct reports.
  CHECK(eventually([&] { return node.cluster.get("NodeMetric", "test-node").has_value(); }, 90s));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("a NodeMetric is idle while koord-manager writes it instead of the agent, and not afterwards") {
  Node node(", replaceNodeMetric: true");
  REQUIRE(node.agent->start());
  CHECK(eventually([&] { return node.idle() == 1; }, 60s));
  node.manager.reset();
  CHECK(eventually([&] { return node.idle() == 0; }, 60s));
  CHECK(node.agent->stop() == 0);
}
