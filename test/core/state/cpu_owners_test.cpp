// SPDX-License-Identifier: Apache-2.0
#include "core/state/cpu_owners.hpp"

#include <doctest/doctest.h>

#include "core/state/hub.hpp"

using namespace koord;
using namespace koord::state;

namespace {

struct Owners {
  Node node;
  std::vector<Pod> pods;
  Topology topology;

  Owners() {
    for (int cpu = 0; cpu < 8; ++cpu)
      topology.cpus.push_back({.cpu = cpu, .core = cpu / 2, .socket = cpu / 4, .numa_node = cpu / 4, .online = true});
  }
  CpuOwners reserve(const std::string& text) {
    node.annotations[std::string(kReservationAnnotation)] = text;
    return find();
  }
  CpuOwners find() const { return find_cpu_owners(node, pods, topology); }
  void pod(KoordQos qos, const std::string& status) {
    Pod& one = pods.emplace_back();
    one.uid = one.name = "p" + std::to_string(pods.size());
    one.namespace_ = "shop";
    one.koord_qos = qos;
    one.annotations[std::string(kResourceStatusAnnotation)] = status;
  }
  std::string problem_of(const std::string& reservation) {
    const CpuOwners owners = reserve(reservation);
    CHECK_FALSE(owners.reservation_is_whole);
    return owners.node_problems.empty() ? "" : owners.node_problems[0];
  }
};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(Owners, "a reservation by amount takes whole CPUs, as text and as number") {
  CHECK(reserve(R"({"resources":{"cpu":2}})").reserved.list() == "0-1");
  CHECK(reserve(R"({"resources":{"cpu":"2"}})").reserved.list() == "0-1");
  CHECK(reserve(R"({"resources":{"cpu":1.5}})").reserved.list() == "0-1");
  const CpuOwners owners = reserve(R"({"resources":{"cpu":"2500m","memory":"2Gi"}})");
  CHECK(owners.reserved.list() == "0-2");
  CHECK(owners.reserved_cpu_milli == 2500);
  CHECK(owners.reserved_memory_bytes == 2147483648);
  CHECK(owners.node_problems.empty());
}

TEST_CASE_FIXTURE(Owners, "CPUs that a reservation names count before its amount") {
  const CpuOwners owners = reserve(R"({"resources":{"cpu":"1"},"reservedCPUs":"5-7"})");
  CHECK(owners.reserved.list() == "5-7");
  CHECK(owners.reserved_cpu_milli == 3000);
}

TEST_CASE_FIXTURE(Owners, "an empty reservation reserves nothing") {
  for (const char* text : {"", "{}", R"({"resources":{}})", R"({"resources":null,"reservedCPUs":""})"}) {
    CAPTURE(text);
    const CpuOwners owners = reserve(text);
    CHECK(owners.reserved.empty());
    CHECK_FALSE(owners.reserved_cpu_milli);
    CHECK(owners.reservation_is_whole);
  }
}

TEST_CASE_FIXTURE(Owners, "a part of a reservation that cannot be read is named, and the rest counts") {
  CHECK(has(problem_of("all"), "not JSON"));
  CHECK(has(problem_of("[]"), "expected a JSON object"));
  CHECK(has(problem_of(R"({"resources":"2"})"), "resources: expected a mapping"));
  CHECK(has(problem_of(R"({"resources":{"cpu":"many"}})"), "resources.cpu: "));
  CHECK(has(problem_of(R"({"resources":{"cpu":"-1"}})"), "is negative"));
  CHECK(has(problem_of(R"({"reservedCPUs":3})"), "reservedCPUs: "));
  const CpuOwners owners = reserve(R"({"resources":{"cpu":"1","memory":"much"},"reservedCPUs":"3-1"})");
  CHECK(owners.node_problems.size() == 2);
  CHECK(owners.reserved.list() == "0");
}

TEST_CASE_FIXTURE(Owners, "CPUs for SYSTEM pods are exclusive unless the annotation says that they are not") {
  std::string& system = node.annotations[std::string(kSystemQosAnnotation)];
  system = R"({"cpuset":"6-7"})";
  CHECK(find().system.list() == "6-7");
  CHECK(find().system_exclusive);
  system = R"({"cpuset":"6-7","cpusetExclusive":false})";
  CHECK_FALSE(find().system_exclusive);
  system = R"({"cpuset":"6-7","cpusetExclusive":"no"})";
  CHECK(find().system_exclusive);
  CHECK(find().reservation_is_whole);
  CHECK(has(find().node_problems.at(0), "cpusetExclusive: expected a boolean"));
}

TEST_CASE_FIXTURE(Owners, "the CPUs that the scheduler gave stand by the class of the pod; pods that ended hold none") {
  pod(KoordQos::lse, R"({"cpuset":"0-1"})");
  pod(KoordQos::lsr, R"({"cpuset":"2","numaNodeResources":[]})");
  pod(KoordQos::ls, R"({"cpuset":"3"})");
  pod(KoordQos::lse, R"({"cpuset":"4"})");
  pods.back().phase = Phase::succeeded;
  pod(KoordQos::lsr, R"({"cpuset":"all"})");
  const CpuOwners owners = find();
  CHECK(owners.lse.list() == "0-1");
  CHECK(owners.lsr.list() == "2");
  CHECK(owners.pinned.list() == "3");
  REQUIRE(owners.pod_problems.size() == 1);
  CHECK(has(owners.pod_problems[0], "the CPUs of pod shop/p5 are left out of account: cpuset: "));
}

TEST_CASE_FIXTURE(Owners, "another owner of a CPU makes another version of the topology, and nothing else does") {
  Hub hub;
  hub.publish({.node = node, .pods = pods});
  CHECK(hub.current()->versions.topology == 0);
  hub.publish({.topology = topology});
  CHECK(hub.current()->versions.topology == 1);
  node.annotations["unread"] = "x";
  CHECK(hub.publish({.node = node}) == kNode);
  node.annotations[std::string(kReservationAnnotation)] = R"({"resources":{"cpu":1}})";
  CHECK(hub.publish({.node = node}) == (kNode | kTopology));
  CHECK(hub.current()->versions.topology == 2);
  CHECK(hub.current()->cpu_owners->reserved.list() == "0");
  pod(KoordQos::lsr, R"({"cpuset":"5"})");
  CHECK(hub.publish({.pods = pods}) == (kPods | kTopology));
  CHECK(hub.publish({.topology = topology}) == 0);
}
