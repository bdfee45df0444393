// SPDX-License-Identifier: Apache-2.0
#include "core/report/node_metric.hpp"

#include <cmath>

#include "test/core/report/report_fixture.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr double kGi = 1024.0 * 1024 * 1024;

struct NodeFixture : ReportFixture {
  NodeFixture() {
    usage("node", {}, {4.5, 5.5}, {8 * kGi});
    usage("sys", {}, {0.3}, {1 * kGi});
  }
};

}  // namespace

TEST_CASE_FIXTURE(NodeFixture,
                  "the usage of the node is the mean of the aggregate window, cut off at milli-cores and bytes") {
  signals[0].values = {5.2301, 5.2302, 5.2308};  // mean 5.23036667
  signals[1].values = {8 * kGi, 8 * kGi + 1};    // mean …592.5
  run(300s);
  CHECK(report().status.node.amounts == Amounts{5230, 8589934592});
}

TEST_CASE_FIXTURE(NodeFixture, "a mean that is a whole number of milli-cores is not cut to the one below") {
  signals[0].values = {0.29};
  run(300s);
  for (double cores : {0.29, 0.57, 1.001, 1.13, 1.15, 2.03, 4.35, 8.2, 16.4}) {
    signals[0].values = {cores};
    run(301s);
    CHECK(report().status.node.amounts->cpu_milli == std::llround(cores * 1000));
  }
}

TEST_CASE_FIXTURE(NodeFixture, "samples before the window do not count") {
  signals[0].values = {64};
  run(100s);
  signals[0].values = {1};
  run(301s);
  CHECK(report().status.node.amounts->cpu_milli == 1000);
}

TEST_CASE_FIXTURE(NodeFixture, "a window has mean and percentiles of node and system") {
  spec.windows = {5min};
  signals[0].values.clear();
  for (int i = 1; i <= 100; ++i) signals[0].values.push_back(i);
  run(300s);  // three times the values 1 … 100
  const NodeMetricStatus status = report().status;
  REQUIRE(status.node_windows.size() == 1);
  CHECK(status.node_windows[0].window == 5min);
  // The expected value is the sorted sample at floor(300 * p) - 1. Each value exists three times.
  const std::int64_t expected[] = {50500, 50000, 90000, 95000, 99000};
  for (std::size_t i = 0; i < 5; ++i) CHECK(status.node_windows[0].usages[i].amounts->cpu_milli == expected[i]);
  CHECK(status.system_windows[0].usages[2].amounts == Amounts{300, 1 << 30});
}

TEST_CASE_FIXTURE(NodeFixture, "a window stays empty until samples span half of it") {
  run(150s);  // the first and the last sample are 149 s apart
  NodeMetricStatus status = report().status;
  CHECK(status.node.amounts);
  for (const Usage& usage : status.node_windows[0].usages) CHECK_FALSE(usage.amounts);
  run(1s);
  status = report().status;
  for (const Usage& usage : status.node_windows[0].usages) CHECK(usage.amounts);
  for (const Usage& usage : status.node_windows[1].usages) CHECK_FALSE(usage.amounts);
}

TEST_CASE_FIXTURE(NodeFixture, "without fresh samples of the node nothing is reported") {
  CHECK(report().refusal == "no fresh samples of the node's usage");
  run(10s);
  CHECK(report().refusal.empty());
  clock.advance(150s);
  CHECK(report().refusal.empty());
  clock.advance(1s);
  CHECK(report().refusal == "no fresh samples of the node's usage");
}

TEST_CASE_FIXTURE(NodeFixture, "CPU without memory is not half a usage, but none") {
  end(signals[3].index);
  run(60s);
  const NodeMetricReport report = this->report();
  CHECK_FALSE(report.status.system.amounts);
  CHECK(report.problems.at(0) == "no fresh samples of the system's usage");
}

TEST_CASE_FIXTURE(NodeFixture, "pods stand by namespace and name, with their class") {
  pod("u2", "shop", "web-1", {0.8}, {2 * kGi});
  pod("u1", "shop", "web-0", {0.5}, {1 * kGi}, state::PriorityClass::batch, state::KoordQos::be);
  pod("u3", "blog", "web-9", {1}, {1 * kGi});
  run(60s);
  const std::vector<PodUsage> pods = report().status.pods;
  REQUIRE(pods.size() == 3);
  CHECK(pods[0].name_space + "/" + pods[0].name == "blog/web-9");
  CHECK(pods[1] == PodUsage{"shop", "web-0", "koord-batch", "BE", {Amounts{500, 1 << 30}}});
  CHECK(pods[2] == PodUsage{"shop", "web-1", "koord-prod", "LS", {Amounts{800, 2147483648}}});
}

TEST_CASE_FIXTURE(NodeFixture, "a pod that has ended, has no samples or none lately is left out") {
  for (const char* uid : {"ended", "silent", "stale", "alive"}) pod(uid, "ns", uid, {1}, {kGi});
  state.pods[0].phase = state::Phase::succeeded;
  end(signals[4 + 2].index);
  run(60s);
  end(signals[4 + 3].index);
  run(151s);
  const std::vector<PodUsage> pods = report().status.pods;
  REQUIRE(pods.size() == 1);
  CHECK(pods[0].name == "alive");
}

TEST_CASE_FIXTURE(NodeFixture, "a pod's samples are found by its uid, whatever else their labels say") {
  pod("u1", "ns", "web", {1}, {kGi});
  run(30s);
  for (int i = 0; i < 2; ++i) end(signals.back().index);
  usage("pod", {{"pod_uid", "u1"}, {"pod_name", "web"}, {"node", "a"}}, {3}, {kGi});
  run(30s);
  CHECK(report().status.pods.at(0).usage.amounts->cpu_milli == 3000);
}

TEST_CASE_FIXTURE(NodeFixture, "the memory of the node and its pods is that of the policy") {
  pod("u1", "ns", "web", {1}, {kGi});
  begin("node_memory_usage_with_page_cache", {}, {12 * kGi});
  begin("pod_memory_usage_with_page_cache", {{"pod_uid", "u1"}}, {3 * kGi});
  begin("node_memory_with_hot_page_usage", {}, {10 * kGi});
  begin("pod_memory_with_hot_page_usage", {{"pod_uid", "u1"}}, {2 * kGi});
  run(300s);
  const auto memory = [this](state::MemoryPolicy policy) {
    spec.memory = policy;
    const NodeMetricReport report = this->report();
    CHECK(report.problems.size() == 1);  // about the prediction
    CHECK(report.status.system.amounts->memory_bytes == 1 << 30);
    CHECK(report.status.node_windows[0].usages[1].amounts->memory_bytes == report.status.node.amounts->memory_bytes);
    return std::pair(report.status.node.amounts->memory_bytes >> 30,
                     report.status.pods.at(0).usage.amounts->memory_bytes >> 30);
  };
  CHECK(memory(state::MemoryPolicy::without_page_cache) == std::pair<std::int64_t, std::int64_t>(8, 1));
  CHECK(memory(state::MemoryPolicy::with_page_cache) == std::pair<std::int64_t, std::int64_t>(12, 3));
  CHECK(memory(state::MemoryPolicy::with_hot_page_cache) == std::pair<std::int64_t, std::int64_t>(10, 2));
}

TEST_CASE_FIXTURE(NodeFixture,
                  "a policy without measurements falls back to memory without page cache, and reports that") {
  pod("u1", "ns", "web", {1}, {kGi});
  usage("host_application", {{"host_app_name", "nginx"}}, {1}, {kGi});
  run(300s);
  const NodeMetricStatus plain = report().status;
  spec.memory = state::MemoryPolicy::with_page_cache;
  const NodeMetricReport report = this->report();
  CHECK(report.status == plain);
  CHECK(report.problems ==
        std::vector<std::string>{
            "no samples of the node's memory for 'usageWithPageCache', reported without page cache",
            "no samples of the memory of some pods for 'usageWithPageCache', reported without page cache",
            "no samples of the memory of some host applications for 'usageWithPageCache', reported without page cache",
            "reclaimable resources of prod pods are not predicted"});
}

TEST_CASE_FIXTURE(NodeFixture, "NUMA nodes stand by number, those without samples are left out") {
  state.topology.numa_nodes = {{10, 0}, {2, 0}, {3, 0}};
  usage("node_numa", {{"numa_node_id", "10"}}, {1}, {kGi});
  usage("node_numa", {{"numa_node_id", "2"}}, {2}, {2 * kGi});
  usage("sys_numa", {{"numa_node_id", "2"}}, {0.25}, {kGi});
  run(60s);
  const std::vector<NumaUsage> numa = report().status.numa;
  REQUIRE(numa.size() == 2);
  CHECK(numa[0] == NumaUsage{2, {Amounts{2000, 2147483648}}, {Amounts{250, 1 << 30}}});
  CHECK(numa[1] == NumaUsage{10, {Amounts{1000, 1 << 30}}, {}});
}

TEST_CASE_FIXTURE(NodeFixture, "host applications stand by name with the class of now") {
  usage("host_application", {{"host_app_name", "nginx"}, {"priority_class", "koord-batch"}, {"qos", "BE"}}, {4}, {kGi});
  usage("host_application", {{"host_app_name", "agent"}, {"priority_class", "koord-mid"}, {"qos", "LS"}}, {0.1}, {kGi});
  run(30s);
  end(signals[4].index);
  end(signals[4].index);
  usage("host_application", {{"host_app_name", "nginx"}, {"priority_class", "koord-prod"}, {"qos", "LSR"}}, {1},
        {2 * kGi});
  run(30s);
  const std::vector<ApplicationUsage> applications = report().status.applications;
  REQUIRE(applications.size() == 2);
  CHECK(applications[0].name == "agent");
  CHECK(applications[1] == ApplicationUsage{"nginx", "koord-prod", "LSR", {Amounts{1000, 2147483648}}});
}

TEST_CASE_FIXTURE(NodeFixture, "GPUs of node and pods stand by minor, their figures cut off") {
  pod("u1", "ns", "train", {1}, {kGi});
  const store::Labels second{{"gpu_minor", "1"}, {"gpu_device_uuid", "GPU-b"}},
      first{{"gpu_minor", "0"}, {"gpu_device_uuid", "GPU-a"}};
  for (const store::Labels& gpu : {second, first}) {
    begin("node_gpu_core_usage", gpu, {40.9});
    begin("node_gpu_memory_usage", gpu, {3 * kGi});
    begin("node_gpu_memory_total", gpu, {16 * kGi});
  }
  store::Labels of_pod = second;
  of_pod.emplace_back("pod_uid", "u1");
  begin("pod_gpu_core_usage", of_pod, {7});
  begin("pod_gpu_memory_usage", of_pod, {kGi});
  run(60s);
  const NodeMetricStatus status = report().status;
  REQUIRE(status.node.devices.size() == 2);
  CHECK(status.node.devices[0].uuid == "GPU-a");
  CHECK(status.node.devices[1] == DeviceUsage{"GPU-b", 1, false, 41, 3221225472, 18});
  CHECK(status.pods.at(0).usage.devices == std::vector{DeviceUsage{"GPU-b", 1, false, 7, 1 << 30, 6}});
}

TEST_CASE_FIXTURE(NodeFixture, "a prediction is reported as it is, and a missing one as unknown") {
  run(60s);
  CHECK_FALSE(report().status.prod_reclaimable);
  CHECK(report().problems.at(0) == "reclaimable resources of prod pods are not predicted");
  prediction = {Amounts{2000, 3 << 20}, Amounts{6000, 14 << 20}};
  CHECK(report().problems.empty());
  CHECK(report().status.prod_reclaimable == Amounts{2000, 3 << 20});
  CHECK(report().status.prod_peak == Amounts{6000, 14 << 20});
}

TEST_CASE_FIXTURE(NodeFixture,
                  "when the pods are not confirmed any more, values computed from all of them are unknown") {
  prediction = {Amounts{2000, 3 << 20}, Amounts{6000, 14 << 20}};
  pod("u1", "ns", "web", {1}, {kGi});
  run(60s);
  pods_age = 2min;
  CHECK(report().problems.empty());
  pods_age = 3min;
  const NodeMetricReport report = this->report();
  CHECK(report.problems.at(0) == "the list of pods is old: reclaimable resources are unknown");
  CHECK_FALSE(report.status.prod_reclaimable);
  CHECK_FALSE(report.status.prod_peak);
  CHECK(report.status.pods.size() == 1);  // the pod's cgroup is measured, so the pod runs
  CHECK(report.refusal.empty());
}

TEST_CASE_FIXTURE(NodeFixture, "pods that were never confirmed, or not for ten minutes, refuse the report") {
  run(60s);
  pods_age = std::nullopt;
  CHECK(report().refusal == "the pods of this node are unknown");
  pods_age = 10min;
  CHECK(report().refusal.empty());
  pods_age = 10min + 1s;
  CHECK(report().refusal == "the pods of this node were not confirmed for too long");
}

TEST_CASE_FIXTURE(NodeFixture, "as JSON, quantities are in canonical form and what is empty is {}") {
  spec.windows = {5min, 1h};
  usage("node_numa", {{"numa_node_id", "0"}}, {3}, {900.0 * 1024 * 1024});
  state.topology.numa_nodes = {{0, 0}};
  pod("u1", "shop", "web-0", {0.8}, {123456789});
  run(300s);
  prediction.reclaimable = Amounts{2000, 3ll << 30};
  CHECK(
      to_json(report().status) ==
      R"({"updateTime":"2026-09-21T14:13:20Z","nodeMetric":{"nodeUsage":{"resources":{"cpu":"5","memory":"8Gi"}},)"
      R"("aggregatedNodeUsages":[{"usage":{"avg":{"resources":{"cpu":"5","memory":"8Gi"}},)"
      R"("p50":{"resources":{"cpu":"4500m","memory":"8Gi"}},"p90":{"resources":{"cpu":"5500m","memory":"8Gi"}},)"
      R"("p95":{"resources":{"cpu":"5500m","memory":"8Gi"}},"p99":{"resources":{"cpu":"5500m","memory":"8Gi"}}},"duration":"5m0s"},)"
      R"({"usage":{"avg":{},"p50":{},"p90":{},"p95":{},"p99":{}},"duration":"1h0m0s"}],)"
      R"("systemUsage":{"resources":{"cpu":"300m","memory":"1Gi"}},"aggregatedSystemUsages":[{"usage":{)"
      R"("avg":{"resources":{"cpu":"300m","memory":"1Gi"}},"p50":{"resources":{"cpu":"300m","memory":"1Gi"}},)"
      R"("p90":{"resources":{"cpu":"300m","memory":"1Gi"}},"p95":{"resources":{"cpu":"300m","memory":"1Gi"}},)"
      R"("p99":{"resources":{"cpu":"300m","memory":"1Gi"}}},"duration":"5m0s"},)"
      R"({"usage":{"avg":{},"p50":{},"p90":{},"p95":{},"p99":{}},"duration":"1h0m0s"}],)"
      R"("numaUsages":[{"numaNodeID":0,"nodeUsage":{"resources":{"cpu":"3","memory":"900Mi"}},"systemUsage":{}}]},)"
      R"("podsMetric":[{"name":"web-0","namespace":"shop","podUsage":{"resources":{"cpu":"800m","memory":"123456789"}},)"
      R"("priority":"koord-prod","qos":"LS"}],)"
      R"("prodReclaimableMetric":{"resource":{"resources":{"cpu":"2","memory":"3Gi"}}}})");
}

TEST_CASE_FIXTURE(NodeFixture, "a device of a usage is an object of its own") {
  NodeMetricStatus status;
  status.node.devices = {{"GPU-a", 0, true, 40, 3ll << 30, 18}};
  CHECK(
      to_json(status).find(R"("nodeUsage":{"devices":[{"type":"gpu","id":"GPU-a","minor":0,"health":true,"resources":)"
                           R"({"koordinator.sh/gpu-core":"40","koordinator.sh/gpu-memory":"3Gi",)"
                           R"("koordinator.sh/gpu-memory-ratio":"18"}}]})") != std::string::npos);
  CHECK(to_json(status).ends_with(R"("prodReclaimableMetric":{"resource":{}}})"));
}
