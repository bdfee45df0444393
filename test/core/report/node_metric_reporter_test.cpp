// SPDX-License-Identifier: Apache-2.0
#include "core/report/node_metric_reporter.hpp"

#include <map>

#include "core/log/capture.hpp"

#include "test/core/report/reporting_node.hpp"

using namespace koord;
using namespace koord::test;
namespace json = boost::json;

namespace {

constexpr double kGi = 1024.0 * 1024 * 1024;

struct Reporting : ReportingNode {
  NodeMetricOptions options{.node_name = "test-node", .heartbeat = 2min};
  std::unique_ptr<NodeMetricReporter> reporter;
  bool is_replaced = false;

  Reporting() {
    usage("node", {}, {4.5, 5.5}, {8 * kGi});
    usage("sys", {}, {0.3}, {kGi});
    pod("u1", "shop", "web-0", {0.8}, {2 * kGi});
    prediction.reclaimable = Amounts{2000, 3ll << 30};
    run(300s);
    publish_pods();
  }
  void put(const std::string& wanted = "{}", const std::string& more = "") {
    cluster.put(
        R"({"apiVersion":"slo.koordinator.sh/v1alpha1","kind":"NodeMetric","metadata":{"name":"test-node"},"spec":)" +
        wanted + more + "}");
    hear("NodeMetric");
  }
  void start() {
    reporter.reset();
    reporter = std::make_unique<NodeMetricReporter>(NodeMetricReporter::Parts{loop,
                                                                              workers,
                                                                              *cache,
                                                                              hub,
                                                                              clock,
                                                                              &client,
                                                                              [this] { return prediction; },
                                                                              {},
                                                                              [this] { return is_replaced; }},
                                                    options);
    reporter->poll();
    settle(*reporter);
  }
  // Lets this time pass, with samples each second and a poll every ten seconds. The watch reports the writes.
  void pass(Duration time) {
    for (Duration passed = 0s; passed < time; passed += 10s) {
      run(10s);
      if (pods_age) hub.confirm(state::kPods, clock.now());
      reporter->poll();
      settle(*reporter);
      if (cluster.get("NodeMetric", "test-node")) hear("NodeMetric");
    }
  }
  std::uint64_t count(Outcome outcome) { return reporter->view().account.outcomes[outcome]; }
  std::string updated() { return std::string(object("NodeMetric").at_pointer("/status/updateTime").as_string()); }
  std::size_t status_writes() {
    std::size_t count = 0;
    for (const ClusterRequest& request : writes("NodeMetric"))
      count += request.verb == "update" && request.subresource == "status";
    return count;
  }
  std::string degraded() {
    const json::value object = this->object("NodeMetric");
    const json::value* annotations = object.as_object().at("metadata").as_object().if_contains("annotations");
    if (annotations == nullptr || !annotations->as_object().contains("koordetector.sh/degraded")) return "";
    return std::string(annotations->as_object().at("koordetector.sh/degraded").as_string());
  }
};

}  // namespace

TEST_CASE_FIXTURE(Reporting, "the status appears, right to the last digit") {
  put(R"({"metricCollectPolicy":{"nodeAggregatePolicy":{"durations":["5m"]}}})");
  start();
  pass(30s);
  REQUIRE(status_writes() == 1);
  const json::value status = object("NodeMetric").at("status");
  // 151 of the 301 samples of five minutes are 5.5 cores, and 150 are 4.5 cores.
  CHECK(json::serialize(status.at_pointer("/nodeMetric/nodeUsage")) ==
        R"({"resources":{"cpu":"5001m","memory":"8Gi"}})");
  CHECK(json::serialize(status.at_pointer("/nodeMetric/systemUsage")) ==
        R"({"resources":{"cpu":"300m","memory":"1Gi"}})");
  CHECK(json::serialize(status.at_pointer("/nodeMetric/aggregatedNodeUsages/0/usage/p90")) ==
        R"({"resources":{"cpu":"5500m","memory":"8Gi"}})");
  CHECK(
      json::serialize(status.at_pointer("/podsMetric")) ==
      R"([{"name":"web-0","namespace":"shop","podUsage":{"resources":{"cpu":"800m","memory":"2Gi"}},"priority":"koord-prod","qos":"LS"}])");
  CHECK(json::serialize(status.at_pointer("/prodReclaimableMetric")) ==
        R"({"resource":{"resources":{"cpu":"2","memory":"3Gi"}}})");
  CHECK(degraded().empty());
}

TEST_CASE_FIXTURE(Reporting, "the spec stays as it is, and what it asks for is followed") {
  put(R"({"metricCollectPolicy":{"reportIntervalSeconds":30,"nodeAggregatePolicy":{"durations":["5m","10m"]}}})");
  start();
  pass(30s);
  REQUIRE(object("NodeMetric").at_pointer("/status/nodeMetric/aggregatedNodeUsages").as_array().size() == 2);
  const std::string status = json::serialize(object("NodeMetric").at("status"));
  put(R"({"metricCollectPolicy":{"reportIntervalSeconds":30,"nodeAggregatePolicy":{"durations":["1m"]}}})",
      R"(,"status":)" + status);
  pass(40s);
  const json::value after = object("NodeMetric");
  REQUIRE(after.at_pointer("/status/nodeMetric/aggregatedNodeUsages").as_array().size() == 1);
  CHECK(after.at_pointer("/status/nodeMetric/aggregatedNodeUsages/0/duration") == "1m0s");
  CHECK(after.at_pointer("/spec/metricCollectPolicy/reportIntervalSeconds") == 30);
}

TEST_CASE_FIXTURE(Reporting, "an unchanged node writes once in two minutes, a changed one within the interval") {
  put();
  start();
  pass(30s);
  REQUIRE(status_writes() == 1);
  pass(90s);
  CHECK(status_writes() == 1);
  pass(40s);
  CHECK(status_writes() == 2);
  pass(10s);
  pod("u2", "shop", "web-1", {0.1}, {kGi});
  publish_pods();
  pass(70s);
  CHECK(status_writes() == 3);
  CHECK(object("NodeMetric").at_pointer("/status/podsMetric").as_array().size() == 2);
}

TEST_CASE_FIXTURE(Reporting, "a restart without a change does not write") {
  put();
  start();
  pass(30s);
  REQUIRE(status_writes() == 1);
  start();
  pass(70s);
  CHECK(status_writes() == 1);
  CHECK(count(Outcome::written) == 0);
  CHECK(reporter->view().account.accepted);
}

TEST_CASE_FIXTURE(Reporting, "when another client writes at the same time it is tried again with its version") {
  put();
  cluster.fault("conflict", R"({"count": 1})");
  start();
  pass(30s);
  CHECK(count(Outcome::written) == 1);
  std::map<unsigned, int> statuses;
  for (const ClusterRequest& request : writes("NodeMetric")) ++statuses[request.status];
  CHECK(statuses == std::map<unsigned, int>{{200, 1}, {409, 1}});
}

TEST_CASE_FIXTURE(Reporting,
                  "a write that the API server refuses for now is not repeated at once, and is done in the end") {
  put();
  cluster.fault("too_many_requests", R"({"retry_after": 2, "path": "/nodemetrics", "count": 1})");
  start();
  while (count(Outcome::refused) == 0) pass(10s);
  const Time refused_at = clock.now();
  CHECK(writes("NodeMetric").size() == 1);
  while (count(Outcome::written) == 0) pass(10s);
  CHECK(clock.now() - refused_at >= 10s);
  const std::vector<ClusterRequest> asked = writes("NodeMetric");
  REQUIRE(asked.size() == 2);
  CHECK(asked[1].seconds - asked[0].seconds >= 2);  // Retry-After, by the real clock
}

TEST_CASE_FIXTURE(
    Reporting,
    "an unavailable API server is tried more and more rarely, and gets the newest status when it is available") {
  put();
  start();
  cluster.fault("down");
  pass(10min);
  const std::uint64_t failed = count(Outcome::failed);
  CHECK(failed >= 9);
  CHECK(failed <= 25);
  CHECK(reporter->view().account.problem != "");
  for (Signal& signal : signals) signal.values = {signal.values[0] / 2};
  run(301s);
  cluster.clear_faults();
  pass(70s);
  CHECK(count(Outcome::written) == 1);
  CHECK(object("NodeMetric").at_pointer("/status/nodeMetric/nodeUsage/resources/cpu") == "2250m");
}

TEST_CASE_FIXTURE(Reporting, "a missing NodeMetric is not written, unless the agent creates it") {
  hear("NodeMetric");
  start();
  pass(3min);
  CHECK(writes("NodeMetric").empty());
  CHECK_FALSE(reporter->view().exists);
  CHECK(reporter->view().missing);
  options.create = true;
  start();
  pass(30s);
  CHECK(count(Outcome::written) == 1);
  CHECK(object("NodeMetric").at_pointer("/status/nodeMetric/nodeUsage/resources/cpu") == "5001m");
}

TEST_CASE_FIXTURE(Reporting, "nothing is written before it is known what the API server has") {
  start();
  pass(3min);
  CHECK(writes("NodeMetric").empty());
}

TEST_CASE_FIXTURE(Reporting, "a NodeMetric that was deleted and created again gets its status again") {
  put();
  start();
  pass(30s);
  cluster.remove("NodeMetric", "test-node");
  put();
  pass(70s);
  CHECK(object("NodeMetric").as_object().contains("status"));
}

TEST_CASE_FIXTURE(Reporting, "left out values are in the annotation as long as they are missing") {
  put(R"({"metricCollectPolicy":{"nodeMemoryCollectPolicy":"usageWithPageCache"}})");
  start();
  pass(30s);
  CHECK(degraded() == "no samples of the node's memory for 'usageWithPageCache', reported without page cache; "
                      "no samples of the memory of some pods for 'usageWithPageCache', reported without page cache");
  CHECK(object("NodeMetric").at_pointer("/status/nodeMetric/nodeUsage/resources/memory") == "8Gi");
  begin("node_memory_usage_with_page_cache", {}, {9 * kGi});
  begin("pod_memory_usage_with_page_cache", {{"pod_uid", "u1"}}, {3 * kGi});
  pass(80s);
  CHECK(degraded().empty());
  CHECK(object("NodeMetric").at_pointer("/status/nodeMetric/nodeUsage/resources/memory") == "9Gi");
}

TEST_CASE_FIXTURE(Reporting, "when the pods are not confirmed for too long the status stays as it was, and says so") {
  put();
  start();
  pass(30s);
  pods_age = std::nullopt;
  pass(12min);
  const std::string last = updated();
  const std::size_t before = writes("NodeMetric").size();
  CHECK(degraded().starts_with("not updated: the pods of this node were not confirmed for too long"));
  pass(10min);
  CHECK(updated() == last);
  CHECK(writes("NodeMetric").size() == before);
  pods_age = 0s;
  pass(80s);
  CHECK(degraded().empty());
  CHECK(updated() != last);
}

TEST_CASE_FIXTURE(Reporting, "without a client it is computed all the same") {
  NodeMetricReporter alone({loop, workers, *cache, hub, clock, nullptr, {}}, options);
  alone.poll();
  settle(alone);
  CHECK(alone.view().report.status.node.amounts == Amounts{5000, 8ll << 30});
  CHECK_FALSE(alone.view().writes);
}

TEST_CASE_FIXTURE(Reporting,
                  "a pod with an entry that the API server refuses is left out, and node usage is still reported") {
  pod("u2", "shop", "web-1", {0.1}, {kGi});
  publish_pods();
  put();
  cluster.fault("refuse", R"({"kind":"NodeMetric","fields":["status.podsMetric[].podUsage.resources.cpu"]})");
  start();
  pass(60s);
  CHECK(object("NodeMetric").at_pointer("/status/podsMetric").as_array().empty());
  CHECK(object("NodeMetric").at_pointer("/status/nodeMetric/nodeUsage/resources").as_object().size() == 2);
  CHECK(reporter->view().account.left_out.size() == 2);
}

TEST_CASE_FIXTURE(Reporting, "node usage is never left out: a node without it would count as idle") {
  put();
  cluster.fault("refuse", R"({"kind":"NodeMetric","fields":["status.nodeMetric.nodeUsage.resources.cpu"]})");
  start();
  pass(2min);
  CHECK_FALSE(object("NodeMetric").as_object().contains("status"));
  CHECK(reporter->view().account.problem.find("refused on purpose") != std::string::npos);
}

TEST_CASE_FIXTURE(Reporting, "by default an unchanged node's report is never older than a minute") {
  options.heartbeat = NodeMetricOptions().heartbeat;
  put();
  start();
  pass(30s);
  REQUIRE(status_writes() == 1);
  pass(10min);
  CHECK(status_writes() >= 11);
}

TEST_CASE_FIXTURE(Reporting, "that the NodeMetric is missing is logged again every half hour") {
  const log::Capture capture(log::Level::warn);
  hear("NodeMetric");
  start();
  pass(29min);
  CHECK(capture.lines().size() == 1);
  pass(40min);
  CHECK(capture.lines().size() == 3);
  CHECK(capture.lines()[0].find("report.createNodeMetric") != std::string::npos);
}

TEST_CASE_FIXTURE(Reporting, "while koord-manager writes the NodeMetric the agent does not, and then it does again") {
  put();
  is_replaced = true;
  start();
  pass(5min);
  CHECK(status_writes() == 0);
  CHECK(reporter->view().replaced);
  is_replaced = false;
  pass(40s);
  CHECK(status_writes() == 1);
  CHECK_FALSE(reporter->view().replaced);
  is_replaced = true;
  pass(5min);
  CHECK(status_writes() == 1);
}
