// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/koordlet_names.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace koord;

namespace {

constexpr std::uint64_t kPod = 1, kContainer = 2, kService = 3;
const metric::Labels kPodLabels{{"pod_uid", "u1"}, {"pod_name", "web"}, {"pod_namespace", "shop"}};
const metric::Labels kContainerLabels{{"container_id", "containerd://c1"},
                                      {"container_name", "nginx"},
                                      {"pod_uid", "u1"},
                                      {"pod_name", "web"},
                                      {"pod_namespace", "shop"}};
const std::string kPodIds = R"(pod_uid="u1",pod_name="web",pod_namespace="shop")";
const std::string kContainerIds = R"(container_id="containerd://c1",container_name="nginx",)" + kPodIds;

// A registry with the metrics of advisors, and the page with koordlet's metric names.
struct Node {
  metric::Registry registry{"n1"};
  state::Snapshot state;
  metric::HostMetrics host_metrics;
  agentd::KubeletDurations kubelet{host_metrics};
  Time now = from_ns(1'000'000'000'000);

  void set(const std::string& name, double value, metric::Labels own = {}, const metric::Subject& subject = {},
           metric::Type type = metric::Type::gauge) {
    const auto metric = registry.define(
        "advisor", {.name = name, .unit = "", .help = "", .type = type, .resolution = 1e-6, .bounds = {}});
    const auto series = registry.series("advisor", *metric, subject, std::move(own));
    const metric::Point point{*series, value};
    REQUIRE(registry.record("advisor", now, {&point, 1}));
  }
  std::optional<report::NodeMetricStatus> reported = {};
  std::optional<report::CpuPools> pools = {};
  std::uint64_t evictions = 0;

  std::string page() const {
    std::string text;
    agentd::write_koordlet_names(text, {registry, state, "n1", 1700000000, now, nullptr, &kubelet,
                                        reported ? &*reported : nullptr, pools ? &*pools : nullptr, evictions});
    return text;
  }
  // Returns the page without HELP and TYPE, and without start_time, which always exists.
  std::string lines() const {
    std::string text = page(), kept;
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      const std::string line = text.substr(at, end + 1 - at);
      if (line[0] != '#' && !line.starts_with("koordlet_start_time")) kept += line;
    }
    return kept;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Node, "a node without plugins shows when the agent began") {
  CHECK(page() ==
        "# HELP koordlet_start_time Start time of the agent, in Unix seconds.\n# TYPE koordlet_start_time gauge\n"
        "koordlet_start_time{node=\"n1\"} 1700000000\n");
}

TEST_CASE_FIXTURE(Node, "each family has its help and its type once, before its lines") {
  set("collect_node_cpu_info_total", 5, {{"status", "succeeded"}}, {}, metric::Type::counter);
  set("collect_node_cpu_info_total", 1, {{"status", "failed"}}, {}, metric::Type::counter);
  const std::string text = page();
  const std::size_t head = text.find("# TYPE koordlet_collect_node_cpu_info_status counter\n");
  REQUIRE(head != std::string::npos);
  CHECK(text.find("# TYPE koordlet_collect_node_cpu_info_status", head + 1) == std::string::npos);
  CHECK(lines() == "koordlet_collect_node_cpu_info_status{node=\"n1\",status=\"succeeded\"} 5\n"
                   "koordlet_collect_node_cpu_info_status{node=\"n1\",status=\"failed\"} 1\n");
}

TEST_CASE_FIXTURE(Node, "usage of the node, in cores and bytes") {
  set("node_cpu_usage", 7.25);
  set("node_memory_usage", 4096);
  CHECK(lines() ==
        "koordlet_node_used_cpu_cores{node=\"n1\"} 7.25\nkoordlet_node_used_memory_bytes{node=\"n1\"} 4096\n");
}

TEST_CASE_FIXTURE(Node, "the usage of best-effort pods is in cores, and the other allocations are not shown") {
  set("node_be", 1500, {{"be_resource", "cpu"}, {"be_allocation", "usage"}});
  set("node_be", 8000, {{"be_resource", "cpu"}, {"be_allocation", "real-limit"}});
  CHECK(lines() == "koordlet_be_suppress_be_used_cpu_cores{node=\"n1\"} 1.5\n");
}

TEST_CASE_FIXTURE(Node, "CPU and memory of a host application are one family") {
  const metric::Labels labels{{"host_app_name", "nginx"}, {"priority_class", "koord-prod"}, {"qos", "LS"}};
  set("host_application_cpu_usage", 0.5, labels);
  set("host_application_memory_usage", 1048576, labels);
  CHECK(lines() ==
        "koordlet_host_application_resource_usage{node=\"n1\",host_application_name=\"nginx\",resource=\"cpu\","
        "priority_class=\"koord-prod\",qos=\"LS\"} 0.5\n"
        "koordlet_host_application_resource_usage{node=\"n1\",host_application_name=\"nginx\",resource=\"memory\","
        "priority_class=\"koord-prod\",qos=\"LS\"} 1048576\n");
}

TEST_CASE_FIXTURE(Node, "cycles and instructions of a container") {
  set("container_cpi", 2000, {{"cpi_resource", "cycle"}}, {kContainer, kContainerLabels});
  set("container_cpi", 1000, {{"cpi_resource", "instruction"}}, {kContainer, kContainerLabels});
  CHECK(lines() == "koordlet_container_cpi{node=\"n1\"," + kContainerIds + ",cpi_field=\"cycles\"} 2000\n" +
                       "koordlet_container_cpi{node=\"n1\"," + kContainerIds + ",cpi_field=\"instructions\"} 1000\n");
}

TEST_CASE_FIXTURE(Node, "pressure of containers and pods, with the kernel's support of 'full' for the CPU") {
  set("container_psi", 1.5, {{"psi_resource", "cpu"}, {"psi_precision", "10"}, {"psi_degree", "some"}},
      {kContainer, kContainerLabels});
  set("container_psi_cpu_full_supported", 1, {}, {kContainer, kContainerLabels});
  set("pod_psi", 2.5, {{"psi_resource", "mem"}, {"psi_precision", "300"}, {"psi_degree", "full"}}, {kPod, kPodLabels});
  CHECK(
      lines() ==
      "koordlet_container_psi{node=\"n1\"," + kContainerIds +
          ",psi_resource_type=\"cpu\",psi_precision=\"avg10\",psi_degree=\"some\",cpu_full_supported=\"true\"} 1.5\n" +
          "koordlet_pod_psi{node=\"n1\"," + kPodIds +
          ",psi_resource_type=\"mem\",psi_precision=\"avg300\",psi_degree=\"full\",cpu_full_supported=\"false\"} 2.5\n");
}

TEST_CASE_FIXTURE(Node, "programs outside of pods are not shown in families that koordlet has for containers of pods") {
  set("container_psi", 1, {{"psi_resource", "cpu"}, {"psi_precision", "10"}, {"psi_degree", "some"}},
      {kService, {{"container_name", "nginx.service"}}});
  CHECK(lines().empty());
}

TEST_CASE_FIXTURE(Node, "cache and memory bandwidth of the QoS classes") {
  set("resctrl_resource_llc", 2048, {{"qos", "BE"}, {"cache_id", "0"}});
  set("resctrl_resource_mb", 9000, {{"qos", "BE"}, {"cache_id", "0"}, {"resctrl_mb_type", "mbm_total_bytes"}}, {},
      metric::Type::counter);
  CHECK(lines() ==
        "koordlet_resctrl_llc_occupancy{node=\"n1\",cache_id=\"0\",qos=\"BE\"} 2048\n"
        "koordlet_resctrl_memory_bandwidth{node=\"n1\",cache_id=\"0\",qos=\"BE\",mb_type=\"mbm_total_bytes\"} 9000\n");
}

TEST_CASE_FIXTURE(Node, "allocatable batch and mid resources of the node, each with its own unit") {
  state.node.allocatable = {{"cpu", 8000}, {"kubernetes.io/batch-cpu", 4000}, {"kubernetes.io/mid-memory", 1024}};
  CHECK(lines() ==
        "koordlet_node_resource_allocatable{node=\"n1\",resource=\"kubernetes.io/batch-cpu\",unit=\"integer\"} 4000\n"
        "koordlet_node_resource_allocatable{node=\"n1\",resource=\"kubernetes.io/mid-memory\",unit=\"byte\"} 1024\n");
}

TEST_CASE_FIXTURE(
    Node, "batch requests and limits of regular containers that have begun; a limit that is not set is not shown") {
  state::Container container{
      .id = "containerd://c1",
      .name = "nginx",
      .cgroup_dir = {},
      .resources = {{"cpu", 1, 1}, {"kubernetes.io/batch-cpu", 500, 1000}, {"kubernetes.io/batch-memory", 2048}}};
  state::Container waiting = container, sidecar = container;
  waiting.id.clear();
  sidecar.kind = state::ContainerKind::sidecar;
  state::Pod pod;
  pod.uid = "u1";
  pod.name = "web";
  pod.namespace_ = "shop";
  pod.containers = {container, waiting, sidecar};
  state.pods = {pod};
  CHECK(lines() == "koordlet_container_resource_limits{node=\"n1\"," + kContainerIds +
                       ",resource=\"kubernetes.io/batch-cpu\",unit=\"integer\"} 1000\n" +
                       "koordlet_container_resource_requests{node=\"n1\"," + kContainerIds +
                       ",resource=\"kubernetes.io/batch-cpu\",unit=\"integer\"} 500\n" +
                       "koordlet_container_resource_requests{node=\"n1\"," + kContainerIds +
                       ",resource=\"kubernetes.io/batch-memory\",unit=\"byte\"} 2048\n");
}

TEST_CASE_FIXTURE(Node, "a value that is older than five minutes is not shown, nor is NaN") {
  set("node_cpu_usage", 1);
  set("node_memory_usage", std::nan(""));
  now = now + std::chrono::minutes(6);
  CHECK(lines().empty());
}

TEST_CASE_FIXTURE(Node, "reported usage of the node, the system and NUMA nodes is shown; left out parts are not") {
  reported.emplace();
  reported->node.amounts = report::Amounts{5230, 2048};
  reported->numa = {{1, {report::Amounts{3000, 1024}}, {}}};
  CHECK(
      lines() ==
      "koordlet_node_metric_node_usage{node=\"n1\",resource=\"cpu\",unit=\"core\"} 5.23\n"
      "koordlet_node_metric_node_usage{node=\"n1\",resource=\"memory\",unit=\"byte\"} 2048\n"
      "koordlet_node_metric_numa_node_usage{node=\"n1\",numa_node_id=\"1\",resource=\"cpu\",unit=\"core\"} 3\n"
      "koordlet_node_metric_numa_node_usage{node=\"n1\",numa_node_id=\"1\",resource=\"memory\",unit=\"byte\"} 1024\n");
}

TEST_CASE_FIXTURE(Node, "how many CPUs are in the pools that pods share") {
  pools.emplace();
  pools->shared = *CpuSet::parse("0-5");
  pools->best_effort = *CpuSet::parse("0-6");
  CHECK(lines() == "koordlet_cpuset_be_share_pool_cpu_cores{node=\"n1\"} 7\n"
                   "koordlet_cpuset_share_pool_cpu_cores{node=\"n1\"} 6\n");
}

TEST_CASE("the kubelet's response time is a histogram with koordlet's bounds; a missing answer has the code error") {
  Node node;
  node.kubelet.observe("/pods", 200, std::chrono::milliseconds(5));
  node.kubelet.observe("/pods", 200, std::chrono::milliseconds(20));
  node.kubelet.observe("/configz", 0, std::chrono::seconds(3));
  const std::string lines = node.lines();
  CHECK(
      lines.find(
          "koordlet_kubelet_request_duration_seconds_bucket{node=\"n1\",verb=\"get\",path=\"/pods/\",code=\"200\",le=\"0.004\"} 0\n") !=
      std::string::npos);
  CHECK(lines.find("path=\"/pods/\",code=\"200\",le=\"0.016\"} 1\n") != std::string::npos);
  CHECK(lines.find("path=\"/pods/\",code=\"200\",le=\"0.064\"} 2\n") != std::string::npos);
  CHECK(lines.find("path=\"/pods/\",code=\"200\",le=\"+Inf\"} 2\n") != std::string::npos);
  CHECK(
      lines.find(
          "koordlet_kubelet_request_duration_seconds_sum{node=\"n1\",verb=\"get\",path=\"/pods/\",code=\"200\"} 0.025\n") !=
      std::string::npos);
  CHECK(
      lines.find(
          "koordlet_kubelet_request_duration_seconds_count{node=\"n1\",verb=\"get\",path=\"/configz\",code=\"error\"} 1\n") !=
      std::string::npos);
  CHECK(node.page().find("# TYPE koordlet_kubelet_request_duration_seconds histogram\n") != std::string::npos);
}

TEST_CASE_FIXTURE(Node, "evicted pods are counted from the first one on") {
  CHECK(lines().empty());
  evictions = 3;
  CHECK(lines() == "koordlet_pod_eviction{node=\"n1\",reason=\"evicted\"} 3\n");
}
