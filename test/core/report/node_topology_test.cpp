// SPDX-License-Identifier: Apache-2.0
#include "core/report/node_topology.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "test/core/report/node_fixture.hpp"

using namespace koord;
using namespace koord::report;
using namespace koord::test;
namespace json = boost::json;

namespace {

struct TopologyFixture : NodeOfTwoSockets {
  std::string cpu_info = R"({"basicInfo":{"cpuModel":"M","hyperThreadEnabled":true},"processorInfos":[]})";
  std::string numa_info =
      R"({"hugePagesMap":{"1":{"1048576":{"numPages":2,"pageSize":1048576},"2048":{"numPages":512,"pageSize":2048}}}})";

  NodeTopology topology() {
    Result<CpuPools> pools = make_cpu_pools(state, std::nullopt);
    REQUIRE(pools);
    return make_node_topology({state, *pools, cpu_info, numa_info});
  }
  std::string annotation(std::string_view name) { return topology().annotations.at(std::string(name)); }
  std::string written(const std::string& over) {
    Result<std::optional<std::string>> merged = merge_node_topology(topology(), over);
    REQUIRE_MESSAGE(merged, merged.error().message());
    return merged->value_or("");
  }
  std::string first() { return written(new_node_topology(state.node)); }
};

std::string at(const std::string& object, const char* pointer) {
  return json::serialize(json::parse(object).at_pointer(pointer));
}

}  // namespace

TEST_CASE_FIXTURE(TopologyFixture, "the CPUs stand with core, socket and NUMA node, those online only") {
  state.topology.cpus.resize(3);
  state.topology.cpus[1].online = false;
  CHECK(annotation(kCpuTopologyAnnotation) ==
        R"({"detail":[{"id":0,"core":0,"socket":0,"node":0},{"id":2,"core":1,"socket":0,"node":0}]})");
}

TEST_CASE_FIXTURE(TopologyFixture, "the pools stand by socket and NUMA node") {
  pod("u1", state::KoordQos::lsr, "0-1,4-7");
  CHECK(annotation(kSharedPoolsAnnotation) == R"([{"socket":0,"node":0,"cpuset":"2-3"}])");
  CHECK(annotation(kBestEffortPoolsAnnotation) ==
        R"([{"socket":0,"node":0,"cpuset":"0-3"},{"socket":1,"node":1,"cpuset":"4-7"}])");
}

TEST_CASE_FIXTURE(TopologyFixture, "the kubelet's CPU manager is reported with its reservation") {
  CHECK(annotation(kCpuManagerAnnotation) == R"({"policy":"none"})");
  state.kubelet->cpu_manager_policy = "static";
  state.kubelet->cpu_manager_options = {{"full-pcpus-only", "true"}};
  state.kubelet->reserved_cpus = "0,1";
  const Result<CpuPools> pools = make_cpu_pools(state, CpuManagerState{"static", {}});
  CHECK(make_node_topology({state, *pools}).annotations.at(std::string(kCpuManagerAnnotation)) ==
        R"({"policy":"static","options":{"full-pcpus-only":"true"},"reservedCPUs":"0-1"})");
}

TEST_CASE_FIXTURE(TopologyFixture, "the reservation is the node's, with the CPUs that it comes to") {
  CHECK(annotation(kReservationAnnotation) == "{}");
  annotate(kReservationAnnotation, R"({"resources":{"cpu":"2"},"applyPolicy":"Default"})");
  CHECK(annotation(kReservationAnnotation) ==
        R"({"resources":{"cpu":"2"},"applyPolicy":"Default","reservedCPUs":"0-1"})");
}

TEST_CASE_FIXTURE(TopologyFixture,
                  "a malformed reservation is left out and reported, the rest is reported, and both end with it") {
  annotate(kReservationAnnotation, R"({"resources":{"cpu":"much"}})");
  annotate(kSystemQosAnnotation, R"({"cpuset":"6-7"})");
  const std::string object = first();
  const auto annotations = json::parse(object).at_pointer("/metadata/annotations").as_object();
  CHECK(annotations.at(kReservationAnnotation) == "{}");
  CHECK(annotations.at(kSystemQosAnnotation) == R"({"cpuset":"6-7","cpusetExclusive":true})");
  CHECK(annotations.at(kSharedPoolsAnnotation) ==
        R"([{"socket":0,"node":0,"cpuset":"0-3"},{"socket":1,"node":1,"cpuset":"4-5"}])");
  CHECK(std::string(annotations.at(kDegradedAnnotation).as_string()).find("resources.cpu") != std::string::npos);
  CHECK(written(object).empty());
  annotate(kReservationAnnotation, "{}");
  CHECK_FALSE(
      json::parse(written(object)).at_pointer("/metadata/annotations").as_object().contains(kDegradedAnnotation));
}

TEST_CASE_FIXTURE(TopologyFixture,
                  "the CPUs of system pods and of the kubelet's pods are reported, also an empty set") {
  CHECK(annotation(kSystemQosAnnotation) == "{}");
  CHECK(annotation(kPodCpusAnnotation) == "[]");
  annotate(kSystemQosAnnotation, R"({"cpuset":"7,6"})");
  CHECK(annotation(kSystemQosAnnotation) == R"({"cpuset":"6-7","cpusetExclusive":true})");
  pod("u1", state::KoordQos::lsr);
  state.kubelet->cpu_manager_policy = "static";
  const Result<CpuPools> pools = make_cpu_pools(state, CpuManagerState{"static", {{"u1", *CpuSet::parse("2-3")}}});
  CHECK(make_node_topology({state, *pools}).annotations.at(std::string(kPodCpusAnnotation)) ==
        R"([{"namespace":"ns","name":"pod-u1","uid":"u1","cpuset":"2-3","managedByKubelet":true}])");
}

TEST_CASE_FIXTURE(TopologyFixture, "the CPUs are left out while they are unknown") {
  CHECK(annotation(kCpuBasicInfoAnnotation) == R"({"cpuModel":"M","hyperThreadEnabled":true})");
  cpu_info.clear();
  CHECK_FALSE(topology().annotations.contains(std::string(kCpuBasicInfoAnnotation)));
}

TEST_CASE_FIXTURE(TopologyFixture, "the policy is the kubelet's, with its scope") {
  CHECK(topology().policy == "None");
  state.kubelet->topology_manager_policy = "single-numa-node";
  CHECK(topology().policy == "SingleNUMANodeContainerLevel");
  state.kubelet->topology_manager_scope = "pod";
  CHECK(topology().policy == "SingleNUMANodePodLevel");
  state.kubelet->topology_manager_policy = "restricted";
  CHECK(topology().policy == "RestrictedPodLevel");
  state.kubelet->topology_manager_policy = "best-effort";
  CHECK(topology().policy == "BestEffortPodLevel");
}

TEST_CASE_FIXTURE(TopologyFixture, "a zone has CPUs, memory without huge pages, and those") {
  const std::string object = first();
  CHECK(
      at(object, "/zones/0") ==
      R"({"name":"node-0","type":"Node","resources":[{"name":"cpu","capacity":"4","allocatable":"4","available":"4"},)"
      R"({"name":"hugepages-1Gi","capacity":"0","allocatable":"0","available":"0"},)"
      R"({"name":"hugepages-2Mi","capacity":"0","allocatable":"0","available":"0"},)"
      R"({"name":"memory","capacity":"16Gi","allocatable":"16Gi","available":"16Gi"}]})");
  CHECK(at(object, "/zones/1/resources/1/capacity") == "\"2Gi\"");
  CHECK(at(object, "/zones/1/resources/2/capacity") == "\"1Gi\"");
  CHECK(at(object, "/zones/1/resources/3/capacity") == "\"13Gi\"");
}

TEST_CASE_FIXTURE(TopologyFixture, "a NUMA node with memory alone is a zone without CPUs") {
  state.topology.numa_nodes.push_back({2, 8ll << 30});
  CHECK(at(first(), "/zones/2/resources/0/capacity") == "\"0\"");
}

TEST_CASE_FIXTURE(TopologyFixture, "zones stand by name, as text") {
  state.topology.numa_nodes.push_back({10, 0});
  state.topology.numa_nodes.push_back({2, 0});
  const std::string object = first();
  CHECK(at(object, "/zones/2/name") == "\"node-10\"");
  CHECK(at(object, "/zones/3/name") == "\"node-2\"");
}

TEST_CASE_FIXTURE(TopologyFixture,
                  "the node's reservation is spread over its zones when its label says so; their capacity stays") {
  state.node.capacity = {{"cpu", 8000}, {"memory", 32ll << 30}};
  state.node.allocatable = {{"cpu", 6999}, {"memory", (32ll << 30) - 3}};
  CHECK(at(first(), "/zones/0/resources/0/allocatable") == "\"4\"");
  state.node.labels[std::string(kNumaReservationLabel)] = "true";
  const std::string object = first();
  CHECK(at(object, "/zones/0/resources/0") ==
        R"({"name":"cpu","capacity":"4","allocatable":"3499m","available":"3499m"})");
  CHECK(at(object, "/zones/0/resources/3/allocatable") == "\"17179869182\"");
  CHECK(at(object, "/metadata/labels") ==
        R"({"app.kubernetes.io/managed-by":"Koordinator","node.koordinator.sh/enable-numa-reservation":"true"})");
}

TEST_CASE_FIXTURE(TopologyFixture, "a new object belongs to the node") {
  CHECK(
      at(first(), "/metadata/ownerReferences") ==
      R"([{"apiVersion":"v1","kind":"Node","name":"a","uid":"node-uid","controller":true,"blockOwnerDeletion":true}])");
}

TEST_CASE_FIXTURE(TopologyFixture, "an object that says all of this already is not written") {
  CHECK(written(first()).empty());
}

TEST_CASE_FIXTURE(TopologyFixture, "quantities and annotations in another form say the same") {
  json::value object = json::parse(first());
  object.at_pointer("/zones/0/resources/3/capacity") = "17179869184";
  object.at_pointer("/metadata/annotations").as_object()[kCpuManagerAnnotation] = R"( { "policy" : "none" } )";
  CHECK(written(json::serialize(object)).empty());
}

TEST_CASE_FIXTURE(TopologyFixture,
                  "the parts of other writers stay: annotations, labels, resources of a zone, its other members") {
  json::value object = json::parse(first());
  object.at_pointer("/metadata/annotations").as_object()["theirs"] = "x";
  object.at_pointer("/zones/0/resources")
      .as_array()
      .push_back({{"name", "kubernetes.io/batch-cpu"}, {"capacity", "3k"}});
  object.at_pointer("/zones/0").as_object()["costs"] = json::array{1, 2};
  object.at_pointer("/zones/0/resources/0/capacity") = "1";
  const std::string merged = written(json::serialize(object));
  CHECK(at(merged, "/metadata/annotations/theirs") == "\"x\"");
  CHECK(at(merged, "/zones/0/costs") == "[1,2]");
  CHECK(at(merged, "/zones/0/resources/0/capacity") == "\"4\"");
  CHECK(at(merged, "/zones/0/resources/3") == R"({"name":"kubernetes.io/batch-cpu","capacity":"3k"})");
}

TEST_CASE_FIXTURE(TopologyFixture, "a zone that is gone is dropped, and a label that the node lost") {
  state.node.labels[std::string(kNumaReservationLabel)] = "true";
  const std::string before = first();
  state.topology.numa_nodes.pop_back();
  state.node.labels.clear();
  const std::string merged = written(before);
  CHECK(json::parse(merged).at_pointer("/zones").as_array().size() == 1);
  CHECK_FALSE(json::parse(merged)
                  .at_pointer("/metadata/labels")
                  .as_object()
                  .contains("node.koordinator.sh/enable-numa-reservation"));
}

TEST_CASE_FIXTURE(TopologyFixture, "an object with members of other types is put right") {
  CHECK_FALSE(
      written(R"({"metadata":{"annotations":3,"labels":[]},"zones":{"a":1},"topologyPolicies":"None"})").empty());
  CHECK_FALSE(written(R"({"zones":[null,{"name":"node-0","resources":[7,{"name":"cpu"}]}]})").empty());
  CHECK(merge_node_topology(topology(), "[]").error().text == "NodeResourceTopology: expected a mapping, found a list");
}
