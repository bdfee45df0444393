// SPDX-License-Identifier: Apache-2.0
// An agent that reports directly to koord-manager: it finds the leader by its Lease, and the next leader after a
// failover.
#include "core/workshop/node_tree.hpp"
#include "test/e2e/manager_cluster.hpp"

using namespace koord;
using namespace koord::test;
using koord::workshop::NodeTree;

TEST_CASE("an agent's direct reports reach the leader, and after it is killed the next leader") {
  ManagerCluster cluster;
  const auto first = cluster.start("a");
  REQUIRE(eventually([&] { return first->leads(); }));
  NodeTree tree;
  tree.write("cgroup/cgroup.controllers", "cpu memory\n");
  tree.make_directory("cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poduid_web.slice");
  cluster.cluster.set_pods(
      R"([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "uid-web"},
    "spec": {"nodeName": "test-node", "containers": [{"name": "app", "image": "i"}]}, "status": {"phase": "Running", "qosClass": "Burstable"}}])");
  AgentProcess agent("roots: {cgroup: \"" + tree.path("cgroup") + "\"}\ncluster: {kubeconfig: \"" +
                         cluster.cluster.kubeconfig() + "\"}\nstate: {kubelet: {caFile: \"" +
                         cluster.cluster.kubelet_ca() +
                         "\", syncPeriod: 1s}}\nreport: {direct: {enabled: true, period: 1s, window: 5s, caFile: " +
                         cluster.certificates().pem("ca") + "}}\n",
                     {built("plugins/advisor-node-resource")});
  REQUIRE(agent.start());
  const auto reports = [&](const Replica& replica) {
    return cluster.metric(replica, "koord_manager_serve_reports_total").value_or(0);
  };
  CHECK(eventually([&] { return reports(*first) >= 2; }));
  CHECK(eventually([&] { return cluster.ask(*first, {}, "/readyz").status == 200; }));
  const auto second = cluster.start("b", true);
  REQUIRE(eventually([&] { return contains(second->log(), "serves /healthz"); }));
  first->process().signal(SIGKILL);
  REQUIRE(eventually([&] { return second->leads(); }));
  CHECK(eventually([&] { return reports(*second) >= 2; }));
  const Answer object = cluster.ask(*second, {"-H", cluster.token_of("test-node")}, kNodeMetricPath + "/test-node");
  CHECK(contains(object.text, "nodeUsage"));
  CHECK(contains(object.text, R"("reportIntervalSeconds":1,)"));
  CHECK(agent.stop() == 0);
}
