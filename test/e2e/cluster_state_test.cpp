// SPDX-License-Identifier: Apache-2.0
// The state of a node in a cluster: the agent reads it from a kubelet and an API server, with every failure of both.
#include <doctest/doctest.h>

#include <filesystem>

#include "core/workshop/node_tree.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord::test;
using koord::workshop::NodeTree;
using namespace std::chrono_literals;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string pod(const std::string& name, const std::string& more = "") {
  return R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")" + name +
         R"(", "namespace": "shop", "uid": "uid-)" + name +
         R"("}, "spec": {"nodeName": "test-node", "containers": [{"name": "app", "image": "i"}]}, "status": {"phase": "Running", "qosClass": "Burstable"})" +
         more + "}";
}

std::string pods_dir(const std::string& name) {
  return "cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poduid_" + name + ".slice";
}

// A node with the pod web, its cluster, and an agent on it.
struct Node {
  explicit Node(const std::string& source, const std::string& sync_period = "1s") {
    tree.write("cgroup/cgroup.controllers", "cpu memory\n");
    run_pod("web");
    cluster.set_pods("[" + pod("web") + "]");
    agent.emplace("roots: {cgroup: \"" + tree.path("cgroup") + "\"}\ncluster: {kubeconfig: \"" + cluster.kubeconfig() +
                  "\"}\nstate: {source: " + source + ", kubelet: {caFile: \"" + cluster.kubelet_ca() +
                  "\", timeout: 1s, syncPeriod: " + sync_period + "}}\n");
  }
  void run_pod(const std::string& name) {
    tree.make_directory(pods_dir(name) + "/cri-containerd-" + std::string(64, 'a') + ".scope");
  }
  void end_pod(const std::string& name) { std::filesystem::remove_all(tree.path(pods_dir(name))); }

  std::string pods() const { return agent->ctl({"pods"}).output; }
  std::string ready() const { return agent->get("/readyz"); }
  bool shows(const std::string& name) const { return contains(pods(), name); }

  NodeTree tree;
  TestCluster cluster;
  std::optional<AgentProcess> agent;
};

}  // namespace

TEST_CASE("pods come from the kubelet, the node from the API server, and koordctl shows both") {
  Node node("auto");
  REQUIRE(node.agent->start({"--set", "exporter.detail=all"}));
  const std::string pods = node.pods();
  CHECK(contains(pods, "1 pods from: kubelet, as of "));
  CHECK(contains(pods, "shop       web "));
  CHECK(contains(pods, "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poduid_web.slice"));
  CHECK(eventually(
      [&] { return contains(node.agent->ctl({"node"}).output, "addresses            InternalIP 127.0.0.1"); }));
  CHECK(eventually([&] { return contains(node.agent->ctl({"node"}).output, "kubelet cgroups      systemd"); }));
  CHECK(eventually(
      [&] { return contains(node.agent->get("/api/v1/capabilities"), R"("name":"apiserver","state":"supported")"); }));
  CHECK(find_metric(node.agent->metrics(), "koordetector_host_state_age_seconds", {"part=\"pods\""}).value_or(99) < 60);
  CHECK(find_metric(node.agent->metrics(), "koordetector_host_state_period_seconds", {"part=\"node\""}) == 60);
  CHECK(find_metric(node.agent->metrics(), "koordetector_host_kubelet_request_duration_seconds_count",
                    {"path=\"/pods\"", "code=\"200\"", "verb=\"get\""})
            .value_or(0) >= 1);
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("in a cluster an agent without plugins has at most 70 series of its own, with the report's") {
  Node node("auto");
  REQUIRE(node.agent->start());
  REQUIRE(eventually([&] {
    const std::string page = node.agent->metrics();
    return find_metric(page, "koordetector_host_state_age_seconds", {"part=\"pods\""}) &&
           find_metric(page, "koordetector_host_state_age_seconds", {"part=\"node\""}) &&
           find_metric(page, "koordetector_report_age_seconds", {"NodeMetric"});
  }));
  const std::size_t series = parse_metrics(node.agent->metrics()).size();
  MESSAGE(series << " series");
  CHECK(series <= 70);
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("pods appear and disappear with the kubelet's list") {
  Node node("kubelet");
  REQUIRE(node.agent->start());
  node.cluster.set_pods("[" + pod("web") + "," + pod("db") + "]");
  CHECK(eventually([&] { return node.shows("db"); }));
  node.end_pod("web");
  node.cluster.set_pods("[" + pod("db") + "]");
  CHECK(eventually([&] { return !node.shows("web"); }));
}

TEST_CASE("a pod is known as soon as its cgroup exists, long before the next periodic request to the kubelet") {
  Node node("kubelet", "1h");
  REQUIRE(node.agent->start());
  node.cluster.set_pods("[" + pod("web") + "," + pod("db") + "]");
  node.run_pod("db");
  CHECK(eventually([&] { return node.shows("db"); }));
}

TEST_CASE("if the kubelet's answer is not a list, the pods stay, the agent is ready and reports the problem") {
  Node node("kubelet");
  REQUIRE(node.agent->start());
  const std::pair<const char*, const char*> faults[] = {{"down", ""},
                                                        {"hang", ""},
                                                        {"garbage", ""},
                                                        {"empty", ""},
                                                        {"not_ready", ""},
                                                        {"deny", ""},
                                                        {"endless", ""},
                                                        {"error", R"(, "code": 500)"},
                                                        {"cut", R"(, "after_bytes": 20)"}};
  for (const auto& [fault, more] : faults) {
    INFO("fault: ", std::string(fault));
    node.cluster.fault(fault, R"({"server": "kubelet")" + std::string(more) + "}");
    // The last problem is shown; it may be the problem of a different request.
    CHECK_MESSAGE(eventually([&] { return contains(node.ready(), "kubelet /pods: "); }, 60s), node.ready());
    CHECK(contains(node.ready(), "degraded, keeping the last state, pods "));
    CHECK(node.shows("web"));
    CHECK(contains(node.pods(), "degraded"));
    node.cluster.clear_faults();
    CHECK_MESSAGE(eventually([&] { return contains(node.ready(), "[+] state: ok"); }, 60s), node.ready());
  }
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("the agent is not ready before the first answer of the kubelet, and ready after it") {
  Node node("kubelet");
  node.cluster.fault("down", R"({"server": "kubelet"})");
  node.agent->launch();
  REQUIRE(eventually([&] { return node.agent->status_of("/readyz") == 503 && contains(node.agent->log(), "kubelet"); },
                     60s));
  CHECK(node.agent->status_of("/healthz") == 200);
  CHECK(contains(node.pods(), "which were never known"));
  node.cluster.clear_faults();
  CHECK(eventually([&] { return node.agent->status_of("/readyz") == 200; }, 60s));
  CHECK(node.shows("web"));
}

TEST_CASE("while the API server is unavailable its last objects stay, and changes arrive when it is available again") {
  Node node("kubelet");
  node.cluster.put(
      R"({"kind": "NodeSLO", "metadata": {"name": "test-node"}, "spec": {"resourceUsedThresholdWithBE": {"cpuSuppressThresholdPercent": 61}}})");
  REQUIRE(node.agent->start());
  const auto threshold = [&] { return node.agent->get("/api/v1/slo"); };
  REQUIRE(eventually([&] { return contains(threshold(), R"(cpuSuppressThresholdPercent":61)"); }));
  node.cluster.fault("down", R"({"server": "api"})");
  REQUIRE(eventually([&] { return contains(node.ready(), "API server: "); }, 60s));
  CHECK(contains(threshold(), R"(cpuSuppressThresholdPercent":61)"));
  CHECK(contains(node.agent->ctl({"node"}).output, "InternalIP 127.0.0.1"));
  CHECK(node.shows("web"));
  node.cluster.put(
      R"({"kind": "NodeSLO", "metadata": {"name": "test-node"}, "spec": {"resourceUsedThresholdWithBE": {"cpuSuppressThresholdPercent": 62}}})");
  node.cluster.clear_faults();
  CHECK(eventually([&] { return contains(threshold(), R"(cpuSuppressThresholdPercent":62)"); }, 60s));
  node.cluster.remove("NodeSLO", "test-node");
  CHECK(eventually([&] { return contains(threshold(), R"(cpuSuppressThresholdPercent":65)"); }, 60s));
  CHECK(eventually([&] { return contains(node.ready(), "[+] state: ok"); }, 180s));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("token rotation loses no answer, and a replaced authority is trusted as soon as its file exists") {
  Node node("kubelet");
  REQUIRE(node.agent->start());
  for (int round = 1; round <= 3; ++round) {
    node.cluster.fault("rotate_token");
    const std::string name = "after" + std::to_string(round);
    node.cluster.set_pods("[" + pod("web") + "," + pod(name) + "]");
    CHECK(eventually([&] { return node.shows(name); }, 60s));
  }
  CHECK_FALSE(contains(node.agent->metrics(), "code=\"401\",path=\"/pods\""));
  CHECK_FALSE(contains(node.agent->metrics(), "code=\"error\",path=\"/pods\""));
  node.cluster.fault("replace_ca");
  node.cluster.set_pods("[" + pod("web") + "," + pod("trusted") + "]");
  CHECK(eventually([&] { return node.shows("trusted"); }, 60s));
  node.cluster.put(
      R"({"kind": "NodeSLO", "metadata": {"name": "test-node"}, "spec": {"resourceUsedThresholdWithBE": {"cpuSuppressThresholdPercent": 63}}})");
  CHECK(
      eventually([&] { return contains(node.agent->get("/api/v1/slo"), R"(cpuSuppressThresholdPercent":63)"); }, 150s));
  CHECK(node.agent->process().running());
}

TEST_CASE("the API server can be the only source of pods") {
  Node node("apiserver");
  node.cluster.put(pod("web"));
  node.cluster.put(
      R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "elsewhere", "namespace": "shop", "uid": "e"}, "spec": {"nodeName": "other", "containers": []}})");
  REQUIRE(node.agent->start());
  CHECK(contains(node.pods(), "1 pods from: apiserver"));
  node.cluster.put(pod("db"));
  CHECK(eventually([&] { return node.shows("db"); }));
  node.cluster.remove("Pod", "db", "shop");
  CHECK(eventually([&] { return !node.shows("db"); }));
  CHECK_FALSE(node.shows("elsewhere"));
  // The kubelet provides the cgroup driver. Its list of pods is not requested.
  CHECK(eventually([&] { return contains(node.agent->get("/api/v1/node"), R"("cgroupDriver":"systemd")"); }));
  CHECK(node.cluster.requests(R"({"server": "kubelet", "path": "/pods"})").empty());
}

TEST_CASE("without permission to ask the kubelet its configuration is unknown, and the agent says so") {
  Node node("apiserver");
  node.cluster.fault("deny", R"({"server": "kubelet"})");
  node.cluster.put(pod("web"));
  REQUIRE(node.agent->start());
  CHECK(contains(node.pods(), "1 pods from: apiserver"));
  CHECK(eventually(
      [&] { return contains(node.agent->ctl({"node"}).output, "its configuration is unknown: /configz: 403"); }));
  CHECK(eventually([&] { return contains(node.ready(), "[+] state: ok"); }));
}

TEST_CASE("a kind that is not installed or not readable is a missing capability, not a failure") {
  Node node("kubelet");
  node.cluster.fault("missing", R"({"kind": "NodeSLO"})");
  node.cluster.fault("deny", R"({"kind": "ConfigMap"})");
  REQUIRE(node.agent->start());
  CHECK(eventually(
      [&] { return contains(node.agent->get("/api/v1/capabilities"), R"("name":"nodeslo","state":"absent")"); }, 60s));
  CHECK(eventually(
      [&] { return contains(node.agent->get("/api/v1/capabilities"), R"("name":"configmap","state":"broken")"); },
      60s));
  CHECK(contains(node.agent->get("/api/v1/slo"), R"(cpuSuppressThresholdPercent":65)"));
  CHECK(eventually([&] { return contains(node.ready(), "[+] state: ok"); }));
}

TEST_CASE("a kubeconfig that is created later is found") {
  Node node("auto");
  std::filesystem::rename(node.cluster.kubeconfig(), node.cluster.kubeconfig() + ".away");
  node.agent->launch();
  REQUIRE(eventually([&] { return node.agent->status_of("/readyz") == 503; }));
  CHECK(contains(node.agent->log(), "looking again every 10 s"));
  std::filesystem::rename(node.cluster.kubeconfig() + ".away", node.cluster.kubeconfig());
  CHECK(eventually([&] { return node.agent->status_of("/readyz") == 200; }, 60s));
  CHECK(node.shows("web"));
}
