// SPDX-License-Identifier: Apache-2.0
#include "core/manager/batch_resources.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "core/manager/node_facts.hpp"

using namespace koord;
using namespace koord::manager;
using state::KoordQos;
using state::PriorityClass;

namespace {

constexpr std::int64_t kGiga = 1'000'000'000;

CpuMemory of(std::int64_t cores, std::int64_t gigabytes) { return {cores * 1000, gigabytes * kGiga}; }

// An example of Koordinator's tests: 100 cores and 120 GB; prod pods use 33 cores and 33 GB and request 60 GB, a batch
// pod uses more, the system uses 7 cores and 12 GB.
struct Case {
  Case() {
    node.name = "n";
    node.capacity = {{"cpu", 100'000}, {"memory", 120 * kGiga}};
    node.allocatable = node.capacity;
    colocation.enable = true;
    colocation.cpu.reclaim_percent = colocation.memory.reclaim_percent = 65;
    add("a", PriorityClass::prod, of(20, 20), of(11, 11));
    add("b", PriorityClass::batch, of(0, 0), of(10, 10));
    add("c", PriorityClass::prod, of(27, 40), of(22, 22));
    usage.system = of(7, 12);
    usage.node = of(50, 55);
  }

  void add(const std::string& name, PriorityClass priority, CpuMemory request, std::optional<CpuMemory> used,
           KoordQos qos = KoordQos::ls) {
    pods.push_back({"test/" + name, "n", true, qos, priority, request});
    if (used) usage.pods.add("test/" + name, priority, *used);
  }

  CpuMemory batch() {
    problems.clear();
    return batch_resources(node_size(node, problems), colocation, demand(), usage);
  }
  CpuMemory mid() { return mid_resources(node_size(node, problems), colocation, demand(), usage); }
  Demand demand() const {
    std::map<std::string, PodFacts, std::less<>> by_name;
    for (const PodFacts& pod : pods) by_name.emplace(pod.name, pod);
    return demand_of(by_name, usage);
  }

  state::Node node;
  Colocation colocation;
  std::vector<PodFacts> pods;
  NodeUsage usage;
  std::vector<std::string> problems;
};

CpuMemory reserved_by(const std::string& annotation) {
  Case one;
  one.node.annotations["node.koordinator.sh/reservation"] = annotation;
  const CpuMemory batch = one.batch();
  CHECK(one.problems.empty());
  return batch;
}

}  // namespace

TEST_CASE("batch gets the capacity less the margin, the system and the use of prod pods") {
  CHECK(Case().batch() == of(25, 33));
}

TEST_CASE("the system's use is at least what is reserved") {
  CHECK(reserved_by("{}") == of(25, 33));
  CHECK(reserved_by(R"({"resources": {"cpu": "20"}})") == of(12, 33));
  CHECK(reserved_by(R"({"resources": {"cpu": "20"}, "reservedCPUs": "0-9"})") == of(22, 33));
  CHECK(reserved_by(R"({"resources": {"memory": "20G"}})") == of(25, 25));
  CHECK(reserved_by(R"({"resources": {"memory": "5G", "cpu": "2"}})") == of(25, 33));
  CHECK(reserved_by(R"({"resources": {"memory": "20G", "cpu": "10"}})") == of(22, 25));
}

TEST_CASE("the kubelet's reservation counts where it is more") {
  Case one;
  one.node.annotations["node.koordinator.sh/reservation"] = R"({"resources": {"memory": "5G", "cpu": "2"}})";
  one.node.allocatable = {{"cpu", 90'000}, {"memory", 100 * kGiga}};
  CHECK(one.batch() == of(22, 25));
}

TEST_CASE("memory by request leaves out what is used") {
  Case one;
  one.colocation.cpu.reclaim_percent = 70;
  one.colocation.memory.reclaim_percent = 80;
  one.colocation.memory.policy = Policy::request;
  CHECK(one.batch() == of(30, 36));
  one.node.annotations["node.koordinator.sh/reservation"] = R"({"resources": {"memory": "5G"}})";
  CHECK(one.batch() == of(30, 31));
}

TEST_CASE("the most of use and request counts for each pod, a pod without a report with its request") {
  Case one;
  one.colocation.cpu.policy = one.colocation.memory.policy = Policy::max_usage_request;
  one.colocation.cpu.reclaim_percent = one.colocation.memory.reclaim_percent = 100;
  CHECK(one.batch() == of(100 - 7 - 20 - 27, 120 - 12 - 20 - 40));
  one.add("new", PriorityClass::prod, of(5, 5), std::nullopt);
  CHECK(one.batch() == of(100 - 7 - 20 - 27 - 5, 120 - 12 - 20 - 40 - 5));
}

TEST_CASE("a pod without a report counts with its request, a pod that has ended not at all") {
  Case one;
  one.add("new", PriorityClass::prod, of(5, 5), std::nullopt);
  CHECK(one.batch() == of(20, 28));
  one.pods.back().counts = false;
  CHECK(one.batch() == of(25, 33));
}

TEST_CASE("an LSE pod counts with its requested CPUs and its used memory") {
  Case one;
  one.add("lse", PriorityClass::prod, of(10, 10), of(1, 2), KoordQos::lse);
  CHECK(one.batch() == of(15, 31));
}

TEST_CASE("a report about a pod that is not listed counts by its priority") {
  for (const auto& [priority, batch] : {std::pair(PriorityClass::prod, of(20, 28)),
                                        {PriorityClass::batch, of(25, 33)},
                                        {PriorityClass::none, of(20, 28)}}) {
    Case one;
    one.usage.pods.add("test/gone", priority, of(5, 5));
    CHECK(one.batch() == batch);
  }
}

TEST_CASE("mid pods count before batch, free pods do not") {
  Case one;
  one.add("mid", PriorityClass::mid, of(5, 5), of(5, 5));
  CHECK(one.batch() == of(20, 28));
  one.add("free", PriorityClass::free, of(5, 5), of(5, 5));
  CHECK(one.batch() == of(20, 28));
}

TEST_CASE("a host application that is not batch counts as the system's") {
  Case one;
  one.usage.applications.add("nginx", PriorityClass::prod, of(2, 2));
  one.usage.applications.add("etl", PriorityClass::batch, of(9, 9));
  CHECK(one.batch() == of(23, 31));
}

TEST_CASE("nothing is less than zero, and a limit in percent of the capacity holds") {
  Case one;
  one.usage.system = of(1000, 1000);
  CHECK(one.batch() == CpuMemory{});
  Case limited;
  limited.colocation.cpu.batch_percent = 10;
  limited.colocation.memory.batch_percent = 20;
  CHECK(limited.batch() == of(10, 24));
}

TEST_CASE("batch CPU grows with the node's normalization, never shrinks") {
  Case one;
  one.node.annotations["node.koordinator.sh/cpu-normalization-ratio"] = "1.20";
  CHECK(one.batch() == CpuMemory{30'000, 33 * kGiga});
  one.node.annotations["node.koordinator.sh/cpu-normalization-ratio"] = "0.5";
  CHECK(one.batch() == of(25, 33));
}

TEST_CASE("invalid annotations are named and ignored") {
  Case one;
  one.node.annotations["node.koordinator.sh/reservation"] = R"({"reservedCPUs": "all"})";
  one.node.annotations["node.koordinator.sh/cpu-normalization-ratio"] = "fast";
  CHECK(one.batch() == of(25, 33));
  CHECK(one.problems.size() == 2);
}

TEST_CASE("mid gets what prod pods can spare, at most what is unused, and a part of what is not allocated") {
  Case one;
  CHECK(one.mid() == CpuMemory{});
  one.usage.prod_reclaimable = of(20, 20);
  CHECK(one.mid() == of(20, 20));
  one.usage.prod_reclaimable = of(90, 90);
  CHECK(one.mid() == of(50, 65));
  one.colocation.cpu.mid_percent = 10;
  CHECK(one.mid() == of(10, 65));
  one.colocation.cpu.mid_percent = 100;
  one.usage.prod_reclaimable = of(0, 0);
  one.colocation.mid_unallocated_percent = 10;
  CHECK(one.mid() == CpuMemory{5'300, 6 * kGiga});
  one.colocation.cpu.mid_static_percent = 30;
  CHECK(one.mid().cpu == 30'000);
}

TEST_CASE("absurd amounts neither overflow nor give anything away") {
  Case one;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  one.node.capacity = {{"cpu", most}, {"memory", most}};
  one.node.allocatable = {{"cpu", 0}, {"memory", 0}};
  for (int i = 0; i < 100; ++i)
    one.add("p" + std::to_string(i), PriorityClass::prod, {kMostAmount, kMostAmount},
            CpuMemory{kMostAmount, kMostAmount});
  CHECK(one.batch() == CpuMemory{});
}

TEST_CASE("a report with more pods than run on any node is refused as a whole") {
  std::string pods = "{}";
  for (int i = 1; i < 4096; ++i) pods += ",{}";
  CHECK(parse_node_usage(R"({"status": {"podsMetric": [)" + pods + "]}}"));
  const auto usage = parse_node_usage(R"({"status": {"podsMetric": [)" + pods + ",{}]}}");
  REQUIRE_FALSE(usage);
  CHECK(usage.error().message() == "status.podsMetric: found 4097, expected at most 4096");
}

TEST_CASE("a NodeMetric is read as the agent writes it") {
  const auto usage = parse_node_usage(R"({"spec": {"metricCollectPolicy": {"aggregateDurationSeconds": 60}}, "status": {
    "updateTime": "2026-01-02T03:04:05Z",
    "nodeMetric": {"nodeUsage": {"resources": {"cpu": "1500m", "memory": "2Gi"}}, "systemUsage": {"resources": {"cpu": "1"}}},
    "podsMetric": [{"name": "a", "namespace": "s", "priority": "koord-prod", "podUsage": {"resources": {"cpu": "250m", "memory": "1Mi"}}},
                   {"name": "bc", "namespace": "s"}],
    "hostApplicationMetric": [{"name": "x", "priority": "koord-batch", "usage": {"resources": {"cpu": "1"}}}],
    "prodReclaimableMetric": {"resource": {"resources": {"cpu": "3"}}}}})");
  REQUIRE(usage);
  CHECK(usage->update_ns == 1'767'323'045'000'000'000);
  CHECK(usage->window == std::chrono::minutes(1));
  CHECK(usage->node == CpuMemory{1500, std::int64_t{2} << 30});
  CHECK(usage->system == CpuMemory{1000, 0});
  REQUIRE(usage->pods.size() == 2);
  CHECK(usage->pods[0] == PodUse{"s/a", PriorityClass::prod, {250, 1 << 20}});
  CHECK(usage->pods[1] == PodUse{"s/bc", PriorityClass::none, {}});
  CHECK(usage->applications[0].priority == PriorityClass::batch);
  CHECK(usage->prod_reclaimable == CpuMemory{3000, 0});
}

TEST_CASE("a NodeMetric without a status has no time; an invalid one is an error") {
  const auto usage = parse_node_usage(R"({"metadata": {"name": "n"}, "spec": {}})");
  REQUIRE(usage);
  CHECK(usage->update_time.empty());
  for (const char* text : {"", "[]", R"({"status": {"podsMetric": {}}})", R"({"status": {"updateTime": 5}})",
                           R"({"status": {"nodeMetric": {"nodeUsage": {"resources": {"cpu": "fast"}}}}})"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_node_usage(text));
  }
}

TEST_CASE("a pod survives the line that is kept of it") {
  const auto pod = parse_pod_facts(R"({"metadata": {"name": "p", "namespace": "s", "uid": "0123-a",
    "labels": {"koordinator.sh/qosClass": "LSE"}}, "spec": {"nodeName": "n", "priority": 9500,
    "containers": [{"name": "c", "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}]}, "status": {"phase": "Running"}})");
  REQUIRE(pod);
  CHECK(*pod == PodFacts{"s/p", "n", true, KoordQos::lse, PriorityClass::prod, {2000, 1 << 30}});
  const auto again = from_line("s/p", to_line(*pod));
  REQUIRE(again);
  CHECK(*again == *pod);
  for (const char* line : {"", "?", "n", "n 1 2 3", "n 1 2 3 x 5"}) CHECK_FALSE(from_line("s/p", line));
}

TEST_CASE("only the members of a node that are read are kept, and a patch states both lists") {
  CHECK(trim_node(R"({"kind": "Node", "metadata": {"name": "n", "uid": "u", "labels": {"a": "b"}, "managedFields": [],
    "annotations": {"node.koordinator.sh/x": "1", "other": "2"}}, "status": {"images": [], "capacity": {"cpu": "1"}}})") ==
        R"({"metadata":{"name":"n","uid":"u","labels":{"a":"b"},"annotations":{"node.koordinator.sh/x":"1"}},)"
        R"("status":{"capacity":{"cpu":"1"}}})");
  CHECK(trim_node("no object") == "no object");
  CHECK(status_patch({{kBatch, CpuMemory{1000, 5}}, {kMid, std::nullopt}}) ==
        R"({"status":{"capacity":{"kubernetes.io/batch-cpu":"1000","kubernetes.io/batch-memory":"5",)"
        R"("kubernetes.io/mid-cpu":null,"kubernetes.io/mid-memory":null},)"
        R"("allocatable":{"kubernetes.io/batch-cpu":"1000","kubernetes.io/batch-memory":"5",)"
        R"("kubernetes.io/mid-cpu":null,"kubernetes.io/mid-memory":null}}})");
}

TEST_CASE("a report with an amount below zero is refused as a whole") {
  CHECK(parse_node_usage(R"({"status":{"nodeMetric":{"systemUsage":{"resources":{"cpu":"0"}}}}})"));
  CHECK_FALSE(parse_node_usage(R"({"status":{"nodeMetric":{"systemUsage":{"resources":{"cpu":"-1"}}}}})"));
}

TEST_CASE("a percentage of a huge amount is bounded, and does not wrap around") {
  Case one;
  one.node.capacity["memory"] = one.node.allocatable["memory"] = kMostAmount;
  one.colocation.memory.batch_percent = 1'000'000;
  CHECK(one.batch().memory > kMostAmount / 2);
}
