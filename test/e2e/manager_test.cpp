// SPDX-License-Identifier: Apache-2.0
// A cluster without Koordinator: koord-manager with its installed configuration, one agent and an API server.
#include <doctest/doctest.h>

#include <csignal>
#include <ctime>
#include <string>

#include "core/base/file.hpp"
#include "core/base/timestamp.hpp"
#include "core/workshop/node_tree.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord::test;
using koord::workshop::NodeTree;
using namespace std::chrono_literals;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// One replica of koord-manager.
class Manager {
 public:
  Manager(const TestCluster& cluster, const TemporaryFolder& folder, const std::string& name)
      : output_(folder / name + ".log"),
        process_({built("core/manager/koord-manager"), "--set", "cluster.kubeconfig=" + cluster.kubeconfig(), "--set",
                  "listen=127.0.0.1:0", "--set", "lease.namespace=koordetector", "--set", "advertise=10.0.0.1:8443"},
                 output_) {}

  std::string log() const {
    auto text = koord::read_file(output_, 1 << 20);
    return text ? *text : "";
  }
  bool leads() const {
    const std::string text = log();
    const std::size_t begin = text.rfind("leads now"), end = text.rfind("leads no longer");
    return begin != text.npos && (end == text.npos || end < begin);
  }
  ChildProcess& process() { return process_; }

 private:
  std::string output_;
  ChildProcess process_;
};

struct Node {
  Node() {
    cluster.merge("Node", "test-node",
                  R"({"status":{"capacity":{"cpu":"10","memory":"10G"},"allocatable":{"cpu":"10","memory":"10G"}}})");
    configure("");
  }
  void configure(const std::string& thresholds) {
    const std::string document = R"({\"clusterStrategy\":{)" + thresholds + "}}";
    cluster.put(
        R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"slo-controller-config","namespace":"koordinator-system"},
      "data":{"resource-threshold-config":")" +
        document + R"(","colocation-config":"{\"enable\":true}"}})");
  }
  void wait_for(const std::string& kind, const std::string& pointer, const std::string& value) {
    cluster.wait_for_object(kind, "test-node", R"({"pointer":")" + pointer + R"(","equals":)" + value + "}");
  }

  TestCluster cluster;
  TemporaryFolder folder;
};

const std::string kThreshold = "/spec/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent";
const std::string kBatch = "/status/allocatable/kubernetes.io~1batch-cpu";

}  // namespace

TEST_CASE("an edited ConfigMap reaches the agent's effective NodeSLO") {
  Node node;
  Manager manager(node.cluster, node.folder, "a");
  NodeTree tree;
  tree.write("cgroup/cgroup.controllers", "cpu memory\n");
  tree.make_directory("cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poduid_web.slice");
  node.cluster.set_pods(
      R"([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "uid-web"},
    "spec": {"nodeName": "test-node", "containers": [{"name": "app", "image": "i"}]}, "status": {"phase": "Running", "qosClass": "Burstable"}}])");
  AgentProcess agent("roots: {cgroup: \"" + tree.path("cgroup") + "\"}\ncluster: {kubeconfig: \"" +
                     node.cluster.kubeconfig() + "\"}\nstate: {source: auto, kubelet: {caFile: \"" +
                     node.cluster.kubelet_ca() + "\", timeout: 1s, syncPeriod: 1s}}\n");
  REQUIRE(agent.start());
  node.configure(R"(\"enable\":true,\"cpuSuppressThresholdPercent\":47)");
  node.wait_for("NodeSLO", kThreshold, "47");
  CHECK(eventually([&] {
    return contains(agent.ctl({"slo", "--explain", "cpuSuppressThresholdPercent"}).output, "47");
  }));
  CHECK(manager.log().find("WARN") == std::string::npos);
}

TEST_CASE("batch CPU of a node decreases after a report of more usage by prod pods") {
  Node node;
  Manager manager(node.cluster, node.folder, "a");
  node.cluster.wait_for_object("NodeMetric", "test-node");
  const auto report = [&](const std::string& cores) {
    node.cluster.merge(
        "NodeMetric", "test-node",
        R"({"status":{"updateTime":")" + koord::format_timestamp(std::time(nullptr) + std::stoi(cores)) +
            R"(","nodeMetric":{"systemUsage":{"resources":{"cpu":"1"}}},"podsMetric":[{"namespace":"shop",
                           "name":"web","priority":"koord-prod","podUsage":{"resources":{"cpu":")" +
            cores + R"("}}}]}})");
  };
  report("1");
  node.wait_for("Node", kBatch, "\"4000\"");
  report("4");
  node.wait_for("Node", kBatch, "\"1000\"");
}

TEST_CASE("one of two replicas leads, and the other takes over when the leader is killed or ends") {
  Node node;
  Manager a(node.cluster, node.folder, "a");
  REQUIRE(eventually([&] { return a.leads(); }));
  CHECK(contains(*node.cluster.get("Lease", "koord-manager", "koordetector"), "10.0.0.1:8443/"));
  Manager b(node.cluster, node.folder, "b");
  node.cluster.wait_for_requests(R"({"verb":"get","kind":"Lease","count":5})");
  CHECK_FALSE(b.leads());
  a.process().signal(SIGKILL);
  REQUIRE(eventually([&] { return b.leads(); }));
  node.configure(R"(\"cpuSuppressThresholdPercent\":33)");
  node.wait_for("NodeSLO", kThreshold, "33");
  Manager c(node.cluster, node.folder, "c");
  b.process().signal(SIGTERM);
  CHECK(b.process().wait(30s) == 0);
  REQUIRE(eventually([&] { return c.leads(); }));
  node.configure(R"(\"cpuSuppressThresholdPercent\":34)");
  node.wait_for("NodeSLO", kThreshold, "34");
  // All three replicas together wrote it once per change.
  CHECK(node.cluster.requests(R"({"verb":"update","kind":"NodeSLO"})").size() <= 2);
}

TEST_CASE("koordctl manager status names the option with a wrong value, and an argument that it does not take") {
  const auto run = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {built("core/ctl/koordctl"), "manager", "status"});
    return run_to_end(arguments);
  };
  const Finished lease = run({"--lease", "foo"});
  CHECK(lease.exit_status == 1);
  CHECK(contains(lease.output, "--lease: expected NAMESPACE/NAME, such as 'koordetector/koord-manager', found 'foo'"));
  CHECK(contains(run({"--metrics-port", "0"}).output, "--metrics-port: expected a port, 1 to 65535, found '0'"));
  CHECK(contains(run({"--kubeconfig", "/nowhere"}).output, "--kubeconfig: cannot open '/nowhere'"));
  const Finished unexpected = run({"now"});
  CHECK(unexpected.exit_status == 2);
  CHECK(contains(unexpected.output, "unexpected argument 'now', expected only options"));
}

TEST_CASE("each program names itself to the API server") {
  Node node;
  Manager manager(node.cluster, node.folder, "a");
  REQUIRE(eventually([&] { return manager.leads(); }));
  run_to_end({built("core/ctl/koordctl"), "manager", "status", "--kubeconfig", node.cluster.kubeconfig()});
  const auto agents = [&](const std::string& pattern) {
    return node.cluster.requests(R"({"user_agent":")" + pattern + R"("})").size();
  };
  CHECK(agents("^koord-manager/[0-9.]+$") > 1);
  CHECK(agents("^koordctl/[0-9.]+$") > 0);
  CHECK(agents("^koordetector/") == 0);
}

TEST_CASE("a wrong command line or configuration ends with status 2 and a reason") {
  const auto run = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), built("core/manager/koord-manager"));
    return run_to_end(arguments);
  };
  CHECK(run({"--unknown"}).exit_status == 2);
  const Finished wrong = run({"--check-config", "--set", "lease.renew=1h"});
  CHECK(wrong.exit_status == 2);
  CHECK(contains(wrong.output, "lease.renew"));
  CHECK(run({"--check-config"}).exit_status == 0);
  CHECK(contains(run({"--feature-gates", "NodeSlo=true", "--check-config"}).output, "NodeSLO"));
  CHECK(contains(run({"--help"}).output, "Usage: koord-manager"));
  CHECK(contains(run({"--print-config-reference"}).output, "sloConfigMap"));
  const Finished unreachable = run({"--set", "cluster.kubeconfig=/nowhere"});
  CHECK(unreachable.exit_status == 1);
  CHECK(contains(unreachable.output, "cluster.kubeconfig: cannot open '/nowhere': No such file or directory"));
  CHECK(contains(run({"status"}).output, "unexpected argument 'status', expected only options"));
  CHECK(contains(run({"--check-config", "--config", "/nowhere.yaml"}).output, "--config: cannot open '/nowhere.yaml'"));
  CHECK(contains(run({"--check-config", "--set", "lease.renew"}).output, "--set lease.renew"));
  const Finished outside = run_to_end(
      {"/usr/bin/env", "-u", "KUBERNETES_SERVICE_HOST", "-u", "KUBECONFIG", built("core/manager/koord-manager")});
  CHECK(outside.exit_status == 1);
  CHECK(contains(outside.output, "$KUBERNETES_SERVICE_HOST is not set"));
  CHECK_FALSE(contains(outside.output, "No such file"));
}
