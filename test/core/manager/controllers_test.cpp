// SPDX-License-Identifier: Apache-2.0
#include "core/manager/controllers.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <boost/json.hpp>

#include "core/json/reader.hpp"
#include "core/manager/lease_record.hpp"
#include "core/manager/self_metrics.hpp"
#include "test/support/loop_here.hpp"
#include "test/support/test_cluster.hpp"

using namespace koord;
using namespace koord::manager;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {
namespace json = boost::json;

const std::string kMap = "koordinator-system/slo-controller-config";

std::string text_at(const std::string& object, const char* pointer) {
  const json::value document = *read_json(object);
  boost::system::error_code missing;
  const json::value* found = document.find_pointer(pointer, missing);
  return !found ? "" : found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
}

Controllers::Options all_controllers() {
  Controllers::Options options;
  options.config_map = kMap;
  return options;
}

class LeapingClock final : public Clock {
 public:
  Time now() const override { return real_.now() + ahead(); }
  std::int64_t wall_ns() const override { return real_.wall_ns() + ahead().count(); }
  void leap(Duration by) { ahead_ += by.count(); }

 private:
  Duration ahead() const { return Duration(ahead_.load()); }

  SystemClock real_;
  std::atomic<std::int64_t> ahead_ = 0;
};

struct Manager : LoopHere {
  explicit Manager(Controllers::Options options = all_controllers()) {
    cluster.put(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"test-node"},
      "status":{"capacity":{"cpu":"10","memory":"10G"},"allocatable":{"cpu":"10","memory":"10G"}}})");
    begin(std::move(options));
  }
  void begin(Controllers::Options options = all_controllers()) {
    controllers.reset();
    controllers = std::make_unique<Controllers>(
        Controllers::Parts{loop, workers, clock, client, events, [this] { return holds_lease; }}, std::move(options));
    controllers->lead(true);
  }
  void configure(const std::string& key, const std::string& document) {
    documents[key] = document;
    cluster.put(json::serialize(
        json::object{{"kind", "ConfigMap"},
                     {"apiVersion", "v1"},
                     {"metadata", {{"name", "slo-controller-config"}, {"namespace", "koordinator-system"}}},
                     {"data", documents}}));
  }
  std::string slo(const char* pointer) {
    const auto object = cluster.get("NodeSLO", "test-node");
    return object ? text_at(*object, pointer) : "none";
  }
  bool is_current(std::string_view kind) const {
    for (const Controllers::Watch& watch : controllers->status().watches)
      if (watch.kind == kind) return watch.health.state == kube::Health::State::current;
    return false;
  }
  // Waits until all due decisions have been made with this threshold and the NodeSLO has been written.
  void suppress_at(int percent) {
    configure("resource-threshold-config",
              R"({"clusterStrategy": {"cpuSuppressThresholdPercent": )" + std::to_string(percent) + "}}");
    REQUIRE(until([&] {
      return slo("/spec/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent") == std::to_string(percent);
    }));
  }
  std::string batch_cpu() {
    return text_at(*cluster.get("Node", "test-node"), "/status/allocatable/kubernetes.io~1batch-cpu");
  }
  void report(int system_cores) {
    const std::string time = format(++reports);
    cluster.merge("NodeMetric", "test-node",
                  R"({"status":{"updateTime":")" + time + R"(","nodeMetric":{"systemUsage":{"resources":{"cpu":")" +
                      std::to_string(system_cores) + R"(","memory":"1G"}}}}})");
  }
  void report_directly(const std::string& system_cores) {
    controllers->take_report("test-node", R"({"status":{"updateTime":")" + format(0) +
                                              R"(","nodeMetric":{"systemUsage":{"resources":{"cpu":")" + system_cores +
                                              R"(","memory":"1G"}}}}})");
  }
  // Reports for half of the window over which a gain is averaged.
  void report_directly_for_a_while(const std::string& system_cores) {
    for (int i = 0; i < 12; ++i) {
      clock.leap(15s);
      report_directly(system_cores);
    }
  }
  // Returns the current time, one second later in each call.
  std::string format(int number) const {
    const std::int64_t seconds = clock.wall_ns() / 1'000'000'000 + number;
    std::string text = format_micro_time(seconds * 1'000'000'000);
    return text.substr(0, 19) + "Z";
  }
  std::size_t writes(const std::string& kind) {
    std::size_t count = 0;
    for (const char* verb : {"create", "update", "patch", "delete"})
      count += cluster.requests(R"({"verb":")" + std::string(verb) + R"(","kind":")" + kind + "\"}").size();
    return count;
  }

  TestCluster cluster;
  LeapingClock clock;
  kube::Client client{
      loop, workers, clock, *kube::find_config(cluster.kubeconfig()), {.requests_per_second = 1000, .burst = 1000}};
  kube::Events events{loop, clock, client, {"koord-manager", "here"}};
  std::unique_ptr<Controllers> controllers;
  bool holds_lease = true;
  json::object documents;
  int reports = 0;
};

const char* const kThreshold = "/spec/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent";

}  // namespace

TEST_CASE("each node gets a NodeSLO, which follows the ConfigMap and is written on changes only") {
  Manager manager;
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "65"; }));
  manager.configure("resource-threshold-config",
                    R"({"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 55}})");
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "55"; }));
  CHECK(manager.writes("NodeSLO") == 2);
  manager.begin();
  REQUIRE(manager.until([&] { return manager.controllers->is_synced(); }));
  manager.configure("resource-threshold-config",
                    R"({"clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 45}})");
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "45"; }));
  CHECK(manager.writes("NodeSLO") == 3);  // a start does not write objects that are already right
}

TEST_CASE("invalid settings keep the last good ones and become an Event on the ConfigMap") {
  Manager manager;
  manager.configure("resource-threshold-config", R"({"clusterStrategy": {"cpuSuppressThresholdPercent": 55}})");
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "55"; }));
  manager.configure("resource-threshold-config", R"({"clusterStrategy": {"cpuSuppressThresholdPercent": 130}})");
  REQUIRE(manager.until([&] { return !manager.controllers->status().rejected.empty(); }));
  REQUIRE(manager.until([&] {
    return manager.cluster.command("list", R"({"kind":"Event"})").find("SLOCfgUnmarshalFailed") != std::string::npos;
  }));
  CHECK(manager.slo(kThreshold) == "55");
  CHECK(metrics_text({true, 0}, manager.controllers->status(), manager.client.use(), manager.clock.now())
            .find("koord_manager_settings_rejected 1\n") != std::string::npos);
}

TEST_CASE("another program that writes the same NodeSLO is noticed, and there is no fight") {
  Manager manager;
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "65"; }));
  int theirs = 0;
  REQUIRE(manager.until([&] {
    const Controllers::Status status = manager.controllers->status();
    if (status.slos->bounds().contested(manager.clock.now()) > 0) return true;
    if (manager.slo(kThreshold) == "65" && ++theirs)
      manager.cluster.merge("NodeSLO", "test-node",
                            R"({"spec":{"resourceUsedThresholdWithBE":{"cpuSuppressThresholdPercent":1}}})");
    return false;
  }));
  CHECK(theirs == 3);
  CHECK(manager.slo(kThreshold) == "1");
  CHECK(manager.writes("NodeSLO") == 3);  // one create, two restored objects
  REQUIRE(manager.until([&] {
    return manager.cluster.command("list", R"({"kind":"Event"})").find("ContestedWrites") != std::string::npos;
  }));
}

TEST_CASE("a standby writes nothing, and continues where the leader ended") {
  Manager manager;
  manager.controllers->lead(false);
  REQUIRE(manager.until([&] { return manager.controllers->is_synced(); }));
  CHECK(manager.writes("NodeSLO") == 0);
  CHECK(manager.writes("NodeMetric") == 0);
  manager.controllers->lead(true);
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "65"; }));
}

TEST_CASE("NodeMetrics are created with the collect policy of the settings") {
  Manager manager;
  manager.configure("colocation-config", R"({"metricReportIntervalSeconds": 30})");
  REQUIRE(manager.until([&] {
    const auto metric = manager.cluster.get("NodeMetric", "test-node");
    return metric && text_at(*metric, "/spec/metricCollectPolicy/reportIntervalSeconds") == "30";
  }));
}

TEST_CASE("batch CPU is granted by reports, shrinks when more is used, and is removed with colocation") {
  Manager manager;
  manager.configure("colocation-config", R"({"enable": true})");
  REQUIRE(manager.until([&] { return manager.cluster.get("NodeMetric", "test-node").has_value(); }));
  manager.report(1);
  REQUIRE(manager.until([&] { return manager.batch_cpu() == "5000"; }));
  manager.report(4);
  REQUIRE(manager.until([&] { return manager.batch_cpu() == "2000"; }));
  CHECK(text_at(*manager.cluster.get("Node", "test-node"), "/status/capacity/kubernetes.io~1batch-cpu") == "2000");
  manager.configure("colocation-config", R"({"enable": false})");
  REQUIRE(manager.until([&] { return manager.batch_cpu().empty(); }));
}

TEST_CASE("a prod pod's request is taken from batch before it is reported") {
  Manager manager;
  manager.configure("colocation-config", R"({"enable": true})");
  REQUIRE(manager.until([&] { return manager.cluster.get("NodeMetric", "test-node").has_value(); }));
  manager.report(1);
  REQUIRE(manager.until([&] { return manager.batch_cpu() == "5000"; }));
  manager.cluster.put(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","labels":{"koordinator.sh/qosClass":"LS"}},
    "spec":{"nodeName":"test-node","containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]},"status":{"phase":"Running"}})");
  REQUIRE(manager.until([&] { return manager.batch_cpu() == "3000"; }));
}

TEST_CASE(
    "reports of the aggregated API count as those of the watch, and a single one, a mean of seconds, grants nothing") {
  Manager manager;
  manager.configure("colocation-config", R"({"enable": true})");
  REQUIRE(manager.until([&] { return manager.cluster.get("NodeMetric", "test-node").has_value(); }));
  manager.report_directly("1");
  manager.suppress_at(55);
  CHECK(manager.batch_cpu().empty());
  manager.report_directly_for_a_while("3");
  REQUIRE(manager.until([&] { return manager.batch_cpu() == "3000"; }));
  manager.controllers->take_report("test-node", "no metric");
  CHECK(manager.controllers->status().problems.size() == 1);
  CHECK(manager.batch_cpu() == "3000");
}

TEST_CASE("a NodeMetric with an older report than the aggregated API took, such as a mirrored one, is no new report") {
  Manager manager;
  manager.configure("colocation-config", R"({"enable": true})");
  REQUIRE(manager.until([&] { return manager.cluster.get("NodeMetric", "test-node").has_value(); }));
  manager.report_directly_for_a_while("3");
  REQUIRE(manager.until([&] { return manager.batch_cpu() == "3000"; }));
  manager.reports = -30;
  manager.report(5);
  manager.suppress_at(55);
  manager.suppress_at(56);
  CHECK(manager.batch_cpu() == "3000");
}

TEST_CASE("direct reports of nodes that do not exist are forgotten, and problems with them are not kept") {
  Manager manager;
  REQUIRE(manager.until([&] { return manager.controllers->is_synced() && manager.controllers->nodes().size() == 1; }));
  const std::size_t known = manager.controllers->status().batch->known(),
                    problems = manager.controllers->status().problems.size();
  for (int i = 0; i < 10; ++i) {
    const std::string name = "ghost-" + std::to_string(i);
    manager.controllers->take_report(name, R"({"status":{"updateTime":"2026-01-02T03:04:05Z","nodeMetric":{}}})");
    manager.controllers->take_report(name, "{");
  }
  CHECK(manager.controllers->status().batch->known() == known + 10);
  CHECK(manager.controllers->status().problems.size() == problems);
  manager.clock.leap(61s);
  CHECK(manager.until([&] { return manager.controllers->status().batch->known() == known; }));
}

TEST_CASE("controllers that are switched off write nothing") {
  Controllers::Options options = all_controllers();
  options.node_metric = options.batch = false;
  Manager manager(options);
  manager.configure("colocation-config", R"({"enable": true})");
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "65"; }));
  CHECK(manager.writes("NodeMetric") == 0);
  CHECK(manager.writes("Node") == 0);
}

TEST_CASE("a server that suddenly lists no nodes loses no object") {
  Manager manager;
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "65"; }));
  manager.cluster.fault("empty", R"({"kind":"Node"})");
  manager.cluster.fault("compact");
  manager.cluster.fault("disconnect");
  REQUIRE(manager.until([&] { return manager.cluster.requests(R"({"verb":"list","kind":"Node"})").size() >= 2; }));
  manager.configure("resource-threshold-config", R"({"clusterStrategy": {"cpuSuppressThresholdPercent": 55}})");
  manager.cluster.clear_faults();
  CHECK(manager.slo(kThreshold) != "none");
}

TEST_CASE("no node loses its resources because NodeMetrics cannot be read") {
  Controllers::Options options = all_controllers();
  options.reflector.first_wait = options.reflector.longest_wait = 100ms;
  Manager manager(options);
  manager.configure("colocation-config", R"({"enable": true})");
  REQUIRE(manager.until([&] { return manager.cluster.get("NodeMetric", "test-node").has_value(); }));
  manager.report(1);
  REQUIRE(manager.until([&] { return manager.batch_cpu() == "5000"; }));
  manager.cluster.fault("error", R"({"kind":"NodeMetric","code":503})");
  manager.cluster.fault("disconnect");
  REQUIRE(manager.until([&] { return !manager.is_current("NodeMetric") && manager.is_current("Pod"); }));
  manager.clock.leap(1h);
  for (int percent : {55, 45}) {
    manager.suppress_at(percent);
    CHECK(manager.batch_cpu() == "5000");
  }
  manager.cluster.clear_faults();
  REQUIRE(manager.until([&] { return manager.is_current("NodeMetric"); }));
  manager.suppress_at(35);
  CHECK(manager.batch_cpu() == "5000");
  manager.report(4);
  REQUIRE(manager.until([&] { return manager.batch_cpu() == "2000"; }));
}

TEST_CASE("a problem with a pod ends with the pod") {
  Manager manager;
  manager.cluster.put(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop"},
    "spec":{"nodeName":"test-node","containers":[{"name":"c","resources":{"requests":{"cpu":"many"}}}]}})");
  REQUIRE(manager.until([&] { return manager.controllers->status().problems.size() == 1; }));
  manager.cluster.remove("Pod", "web", "shop");
  REQUIRE(manager.until([&] { return manager.controllers->status().problems.empty(); }));
}

TEST_CASE("a replica writes nothing after its lease has run out, even before lead(false)") {
  Manager manager;
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "65"; }));
  manager.holds_lease = false;
  manager.configure("resource-threshold-config", R"({"clusterStrategy": {"cpuSuppressThresholdPercent": 55}})");
  manager.configure("system-config", "no JSON");
  REQUIRE(manager.until([&] { return !manager.controllers->status().rejected.empty(); }));
  CHECK(manager.writes("NodeSLO") == 1);
  CHECK(manager.slo(kThreshold) == "65");
  manager.holds_lease = true;
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "55"; }));
  CHECK(manager.writes("NodeSLO") == 2);
}

TEST_CASE("the objects of nodes that all vanished are given up when the server lists nodes again") {
  Manager manager;
  REQUIRE(manager.until([&] { return manager.slo(kThreshold) == "65"; }));
  manager.cluster.remove("Node", "test-node");
  REQUIRE(manager.until([&] { return manager.controllers->status().batch->freshness(manager.clock.now()).empty(); }));
  CHECK(manager.controllers->status().slos->wanted() == 1);
  manager.cluster.put(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"other-node"}})");
  REQUIRE(manager.until([&] { return manager.cluster.get("NodeSLO", "other-node").has_value(); }));
  CHECK(manager.controllers->status().slos->wanted() == 1);
  CHECK(manager.controllers->status().metrics->wanted() == 1);
}

TEST_CASE("another program that writes the same batch resources becomes an Event, too") {
  Manager manager;
  manager.configure("colocation-config", R"({"enable": true})");
  REQUIRE(manager.until([&] { return manager.cluster.get("NodeMetric", "test-node").has_value(); }));
  manager.report(1);
  REQUIRE(manager.until([&] {
    if (manager.batch_cpu() == "5000")
      manager.cluster.merge("Node", "test-node", R"({"status":{"allocatable":{"kubernetes.io/batch-cpu":"9000"}}})");
    return manager.cluster.command("list", R"({"kind":"Event"})").find("changes Node objects") != std::string::npos;
  }));
}
