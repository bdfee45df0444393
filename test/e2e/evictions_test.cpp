// SPDX-License-Identifier: Apache-2.0
// Evictions by a real agent: a strategy in a separate process requests them, an API server evicts the pods.
#include <doctest/doctest.h>

#include "core/workshop/node_tree.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord::test;
using koord::workshop::NodeTree;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Returns a best-effort pod that requests one core of batch CPU. `labels`: members of an object; `more`: members of the
// metadata.
std::string pod(const std::string& name, const std::string& labels = "", const std::string& more = "") {
  return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + name +
         R"(", "namespace": "shop", "uid": "uid-)" + name + R"(", "labels": {"koordinator.sh/qosClass": "BE")" +
         labels + "}" + more +
         R"(}, "spec": {"nodeName": "test-node", "containers": [{"name": "app", "image": "i", "resources": {"requests": )"
         R"({"kubernetes.io/batch-cpu": "1000"}, "limits": {"kubernetes.io/batch-cpu": "1000"}}}]}, )"
         R"("status": {"phase": "Running", "qosClass": "BestEffort"}})";
}

std::map<std::string, std::string> three_pods() { return {{"a", pod("a")}, {"b", pod("b")}, {"c", pod("c")}}; }

// A node with these pods (by name), which the kubelet and the API server know, and an agent with a strategy that needs
// one core.
struct Node {
  explicit Node(const std::string& mode, const std::map<std::string, std::string>& pods = three_pods(),
                const std::string& extra = "", int milli = 1000, const std::string& source = "kubelet") {
    cluster.fault("graceful_deletion", R"({"on": true})");
    tree.write("cgroup/cgroup.controllers", "cpu memory\n");
    for (const auto& [name, object] : pods) {
      tree.make_directory("cgroup/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-poduid_" + name +
                          ".slice/cri-containerd-" + std::string(64, name.front()) + ".scope");
      cluster.put(object);
    }
    list(pods);
    const std::string settings =
        "  settings: {releaser: {mode: " + mode + ", config: {amount: " + std::to_string(milli) + "}}}\n";
    const std::string where = "roots: {cgroup: \"" + tree.path("cgroup") + "\"}\ncluster: {kubeconfig: \"" +
                              cluster.kubeconfig() + "\"}\nstate: {source: " + source + ", kubelet: {caFile: \"" +
                              cluster.kubelet_ca() + "\", timeout: 5s, syncPeriod: 1s}}\n";
    agent.emplace(settings + "featureGates: {Releaser: true}\n" + where + extra,
                  std::vector<std::string>{built("test/e2e/plugins")});
  }
  // Sets the kubelet's answer from now on.
  void list(const std::map<std::string, std::string>& pods) {
    std::string items;
    for (const auto& [name, object] : pods) items += (items.empty() ? "" : ",") + object;
    cluster.set_pods("[" + items + "]");
  }
  bool start() { return agent->start(); }

  std::size_t asked() { return cluster.requests(R"({"verb": "create", "subresource": "eviction"})").size(); }
  bool is_going(const std::string& name) {
    return contains(cluster.get("Pod", name, "shop").value_or("deletionTimestamp"), "deletionTimestamp");
  }
  double counted(const std::string& result) const {
    return find_metric(agent->metrics(), "koordetector_host_evictions_total",
                       {"feature=\"BECPUEvict\"", "result=\"" + result + "\""})
        .value_or(0);
  }
  // Waits for more than ten rounds of the strategy, with new lists of pods.
  void let_it_ask_again() {
    const auto listed = cluster.requests(R"({"server": "kubelet", "path": "/pods"})").size();
    cluster.wait_for_requests(R"({"server": "kubelet", "path": "/pods", "count": )" + std::to_string(listed + 3) + "}");
  }

  NodeTree tree;
  TestCluster cluster;
  std::optional<AgentProcess> agent;
};

}  // namespace

TEST_CASE("a strategy's request evicts one pod through the API server, and no other while the victim ends slowly") {
  Node node("enforce");
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.counted("evicted") == 1; }));
  CHECK(node.is_going("a"));
  CHECK(contains(node.agent->get("/api/v1/capabilities"), R"("name":"eviction","state":"supported")"));
  auto pods = three_pods();
  pods["a"] = pod("a", "", R"(, "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30)");
  node.list(pods);
  CHECK(eventually([&] { return node.counted("pending") == 1; }));
  node.let_it_ask_again();
  CHECK(node.asked() == 1);
  CHECK_FALSE(node.is_going("b"));
  const std::string decisions = node.agent->get("/api/v1/decisions");
  CHECK_MESSAGE((contains(decisions, R"("kind":"eviction")") && contains(decisions, R"("evicted")")), decisions);
  CHECK(contains(node.agent->get("/api/v1/events"), "evictPodSuccess"));
  CHECK(eventually([&] { return contains(node.cluster.command("list", R"({"kind": "Event"})"), "evictPodSuccess"); }));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("with the API server's list a mirror pod stays, and a pod that only claims to be a mirror is evicted") {
  constexpr const char* kHash = "1f2e3d4c5b6a79880f1e2d3c4b5a6978";
  const auto mirror = [&](const std::string& owner) {
    return R"(, "annotations": {"kubernetes.io/config.source": "file", "kubernetes.io/config.hash": ")" +
           std::string(kHash) + R"(", "kubernetes.io/config.mirror": ")" + kHash +
           R"("}, "ownerReferences": [{"apiVersion": "v1", "kind": ")" + owner +
           R"(", "name": "test-node", "uid": "o", "controller": true}])";
  };
  Node node("enforce",
            {{"a", pod("a", "", mirror("Node"))}, {"b", pod("b", "", mirror("ReplicaSet"))}, {"c", pod("c")}}, "", 1000,
            "apiserver");
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.counted("evicted") == 1; }));
  CHECK_FALSE(node.is_going("a"));
  CHECK(node.is_going("b"));
  CHECK_FALSE(node.is_going("c"));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("an agent that restarts gets no new budget") {
  Node node("enforce", three_pods(), "evict: {mostPods: 1, window: 1h, brakePercent: 100}\n", 2000);
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.counted("evicted") == 1 && node.counted("budget") == 1; }));
  CHECK(node.agent->stop() == 0);
  auto pods = three_pods();
  pods.erase("a");
  node.list(pods);
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.counted("budget") >= 1; }));
  node.let_it_ask_again();
  CHECK(node.asked() == 1);
  CHECK_FALSE(node.is_going("b"));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("an agent without the right to evict names the missing right, and does not retry all the time") {
  Node node("enforce");
  node.cluster.fault("deny", R"({"verb": "create", "kind": "Pod"})");
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.counted("refused") == 1; }));
  constexpr std::string_view kForbidden = R"("name":"eviction","state":"broken","detail":"forbidden: 403)";
  CHECK(eventually([&] { return contains(node.agent->get("/api/v1/capabilities"), kForbidden); }));
  node.let_it_ask_again();
  CHECK(node.asked() == 1);
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("by default a strategy is in shadow mode: its evictions are reported, and no pod is evicted") {
  Node node("shadow");
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.counted("shadow") == 1; }));
  CHECK(node.asked() == 0);
  CHECK_FALSE(node.is_going("a"));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("pods that opted out stay, and so do those that would be recreated on the same node at once") {
  Node node(
      "enforce",
      {{"a", pod("a", "", R"(, "annotations": {"koordinator.sh/eviction-policy": "[\"BEMemoryEvict\"]"})")},
       {"b", pod("b", R"(, "koordinator.sh/eviction-enabled": "false")")},
       {"c", pod("c", "", R"(, "annotations": {"koordetector.sh/hands-off": "true"})")},
       {"d", pod("d", "",
                 R"(, "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u",)"
                 R"( "controller": true}])")},
       {"e", pod("e")}});
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.counted("evicted") == 1; }));
  CHECK(node.counted("opted_out") == 4);
  CHECK(node.is_going("e"));
  node.let_it_ask_again();
  CHECK(node.asked() == 1);
  const std::string decisions = node.agent->get("/api/v1/decisions");
  for (const char* why : {"its koordinator.sh/eviction-policy does not name BECPUEvict",
                          "its label koordinator.sh/eviction-enabled is 'false'",
                          "its koordetector.sh/hands-off is true", "its DaemonSet would make it again at once, here"})
    CHECK_MESSAGE(contains(decisions, why), decisions);
  CHECK(node.agent->stop() == 0);
}
