// SPDX-License-Identifier: Apache-2.0
// The agent's writes to the API server: the NodeMetric of its node. For known samples every digit must be right; it
// must follow the spec, and must not be written again without a change.
#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "daemonset_pod.hpp"

using namespace koord::test;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

constexpr auto kLimit = 240s;  // covers several heartbeats
const PodSpec kWeb{.name = "web-0",
                   .uid = "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
                   .digit = 'a',
                   .labels = R"({"koordinator.sh/qosClass": "LS", "koordinator.sh/priority-class": "koord-prod"})"};

// PodResourceCollector is off, so only KnownSamples measures these values.
constexpr const char* kGates = "KnownSamples: true, PodResourceCollector: false";

// The NodeMetric as Koordinator's manager creates it.
std::string node_metric(const std::string& durations) {
  return R"({"kind": "NodeMetric", "metadata": {"name": "test-node"}, "spec": {"metricCollectPolicy": {"aggregateDurationSeconds": 600,
    "reportIntervalSeconds": 30, "nodeAggregatePolicy": {"durations": [)" +
         durations + R"(]}, "nodeMemoryCollectPolicy": "usageWithoutPageCache"}}})";
}

// An agent with known samples and a NodeMetric. The samples cover most of the window of 10 min, which is enough for a
// report, and stay in the window during the test.
struct Known : DaemonSetPod {
  Known() : DaemonSetPod({.gates = kGates, .extra = "report: {heartbeat: 15m}\npredict: {enabled: false}"}) {
    run_pods({kWeb});
    cluster.put(node_metric("\"10m0s\""));
    REQUIRE(start());
  }
  // Returns the seconds since the agent saw the object in the API server with the right content; -1: never.
  double reports(const char* object) { return seen("report_age_seconds", {"object=\"" + std::string(object) + "\""}); }
  json::object status() {
    const std::string object = cluster.wait_for_object("NodeMetric", "test-node",
                                                       R"({"pointer": "/status/updateTime", "exists": true})", kLimit);
    return json::parse(object).at("status").as_object();
  }
};

json::value usage(const char* cpu, const char* memory) {
  return json::object{{"resources", json::object{{"cpu", cpu}, {"memory", memory}}}};
}

}  // namespace

TEST_CASE("the status of the NodeMetric is exact for known samples, and follows the spec") {
  Known pod;
  const json::object status = pod.status();
  INFO(json::serialize(status));
  const json::object& node = status.at("nodeMetric").as_object();
  CHECK(node.at("nodeUsage") == usage("505m", "808Mi"));
  CHECK(node.at("systemUsage") == usage("252m", "404Mi"));

  const json::array& windows = node.at("aggregatedNodeUsages").as_array();
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].at("duration") == json::value("10m0s"));
  const json::object& node_window = windows[0].at("usage").as_object();
  CHECK(node_window.at("avg") == usage("505m", "808Mi"));
  CHECK(node_window.at("p50") == usage("500m", "800Mi"));
  CHECK(node_window.at("p90") == usage("900m", "1440Mi"));
  CHECK(node_window.at("p95") == usage("950m", "1520Mi"));
  CHECK(node_window.at("p99") == usage("990m", "1584Mi"));
  const json::object& system_window = node.at("aggregatedSystemUsages").as_array().at(0).at("usage").as_object();
  CHECK(system_window.at("p50") == usage("250m", "400Mi"));
  CHECK(system_window.at("p99") == usage("495m", "792Mi"));

  const json::array& pods = status.at("podsMetric").as_array();
  REQUIRE(pods.size() == 1);
  CHECK(pods[0].at("name") == json::value("web-0"));
  CHECK(pods[0].at("namespace") == json::value("shop"));
  CHECK(pods[0].at("qos") == json::value("LS"));
  CHECK(pods[0].at("priority") == json::value("koord-prod"));
  CHECK(pods[0].at("podUsage") == usage("250m", "100Mi"));

  // The spec changes; the agent writes only the status.
  pod.cluster.put(node_metric("\"10m0s\", \"5m0s\""));
  const std::string object = pod.cluster.wait_for_object(
      "NodeMetric", "test-node",
      R"({"pointer": "/status/nodeMetric/aggregatedNodeUsages/1/duration", "equals": "5m0s"})", kLimit);
  CHECK(json::parse(object).at("spec") == json::parse(node_metric("\"10m0s\", \"5m0s\"")).at("spec"));
  for (const ClusterRequest& request : pod.cluster.requests(R"({"kind": "NodeMetric", "verb": "update"})")) {
    CHECK(request.subresource == "status");
    CHECK(request.status == 200);
  }
}

TEST_CASE("a restart without changes writes nothing") {
  Known pod;
  pod.status();
  REQUIRE(eventually([&] { return pod.reports("NodeResourceTopology") >= 0; }, kLimit));
  REQUIRE(pod.agent.stop() == 0);
  const std::string before = *pod.cluster.get("NodeMetric", "test-node");
  const std::size_t metrics = pod.writes("NodeMetric"), topologies = pod.writes("NodeResourceTopology");
  REQUIRE(metrics > 0);
  REQUIRE(pod.agent.start());
  // The agent has seen that both are right, and two more report periods have passed.
  REQUIRE(
      eventually([&] { return pod.reports("NodeMetric") >= 0 && pod.reports("NodeResourceTopology") >= 0; }, kLimit));
  pod.cluster.wait_for_requests("{\"server\": \"kubelet\", \"path\": \"/pods\", \"count\": 70, \"after\": " +
                                    std::to_string(pod.cluster.requests().back().index) + "}",
                                kLimit);
  CHECK(pod.writes("NodeMetric") == metrics);
  CHECK(pod.writes("NodeResourceTopology") == topologies);
  CHECK(*pod.cluster.get("NodeMetric", "test-node") == before);
}

TEST_CASE("while the pods are unknown no report that could be wrong is written") {
  DaemonSetPod pod({.gates = kGates});
  pod.cluster.put(node_metric("\"10m0s\""));
  pod.cluster.fault("down", R"({"server": "kubelet"})");
  pod.run_pods({kWeb});
  pod.agent.launch();
  REQUIRE(eventually(
      [&] { return pod.agent.log().find("not updated: the pods of this node are unknown") != std::string::npos; },
      kLimit));
  pod.cluster.wait_for_object("NodeMetric", "test-node",
                              R"({"pointer": "/metadata/annotations/koordetector.sh~1degraded", "exists": true})",
                              kLimit);
  CHECK(pod.cluster.requests(R"({"kind": "NodeMetric", "subresource": "status"})").empty());
  pod.cluster.clear_faults();
  CHECK_NOTHROW(pod.cluster.wait_for_object("NodeMetric", "test-node",
                                            R"({"pointer": "/status/podsMetric/0/name", "equals": "web-0"})", kLimit));
}

TEST_CASE("an object that the agent has no reason to write is idle, and one that it writes is not") {
  DaemonSetPod pod({.gates = kGates, .extra = "report: {heartbeat: 15m, devices: true}"});
  pod.cluster.fault("missing", R"({"kind": "NodeResourceTopology"})");
  pod.run_pods({kWeb});
  REQUIRE(pod.start());
  const auto idle = [&pod](const char* object) {
    return pod.seen("report_idle", {"object=\"" + std::string(object) + "\""});
  };
  // No manager has created the NodeMetric, the kind NodeResourceTopology is not installed, and the node has neither
  // GPUs nor RDMA.
  for (const char* object : {"NodeMetric", "NodeResourceTopology", "Device"}) {
    CAPTURE(object);
    CHECK(eventually([&] { return idle(object) == 1; }, kLimit));
    CHECK(pod.seen("report_age_seconds", {"object=\"" + std::string(object) + "\""}) == -1);
  }
  CHECK(pod.seen("report_heartbeat_seconds") == 900);
  pod.cluster.put(node_metric("\"10m0s\""));
  CHECK(eventually([&] { return idle("NodeMetric") == 0; }, kLimit));
}
