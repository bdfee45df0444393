// SPDX-License-Identifier: Apache-2.0
#include "core/report/cpu_pools.hpp"

#include <doctest/doctest.h>

#include "test/core/report/node_fixture.hpp"

using namespace koord;
using namespace koord::report;
using namespace koord::test;

namespace {

struct PoolFixture : NodeOfTwoSockets {
  std::optional<CpuManagerState> cpu_manager;

  CpuPools pools() {
    Result<CpuPools> pools = make_cpu_pools(state, cpu_manager);
    REQUIRE_MESSAGE(pools, pools.error().message());
    return *pools;
  }
  std::string shared() { return pools().shared.list(); }
  std::string best_effort() { return pools().best_effort.list(); }
  std::string error() {
    Result<CpuPools> pools = make_cpu_pools(state, cpu_manager);
    return pools ? "" : pools.error().message();
  }
  void give(const std::string& uid, const std::string& cpus) {
    state.kubelet->cpu_manager_policy = "static";
    if (!cpu_manager) cpu_manager = CpuManagerState{"static", {}};
    cpu_manager->pods[uid] = *CpuSet::parse(cpus);
  }
};

}  // namespace

TEST_CASE("the state of the kubelet's CPU manager is the CPUs of pods, of all their containers together") {
  const Result<CpuManagerState> state = parse_cpu_manager_state(
      R"({"policyName":"static","defaultCpuSet":"0,2-3","entries":{"u1":{"app":"1,4","side":"5"},"u2":{"app":"6-7"}},"checksum":353318})");
  REQUIRE(state);
  CHECK(state->policy == "static");
  CHECK(state->pods.at("u1").list() == "1,4-5");
  CHECK(state->pods.at("u2").list() == "6-7");
}

TEST_CASE("a CPU manager without a policy that gives CPUs has no pods") {
  CHECK(parse_cpu_manager_state(R"({"policyName":"none","defaultCpuSet":"","checksum":1353318690})")->pods.empty());
}

TEST_CASE("errors in cpu_manager_state are named") {
  const auto error = [](const char* text) { return parse_cpu_manager_state(text).error().text; };
  CHECK(error("") == "cpu_manager_state: not JSON: incomplete JSON at byte 0");
  CHECK(error("{}") == "cpu_manager_state: policyName: expected a name");
  CHECK(error(R"({"policyName":"static","entries":{"c1":"1-2"}})") ==
        "cpu_manager_state: entries.c1: expected containers with their CPUs");
  CHECK(error(R"({"policyName":"static","entries":{"u1":{"app":7}}})") ==
        "cpu_manager_state: entries.u1.app: expected a list of CPUs");
  CHECK(error(R"({"policyName":"static","entries":{"u1":{"app":"3-1"}}})")
            .starts_with("cpu_manager_state: entries.u1.app: "));
}

TEST_CASE_FIXTURE(PoolFixture, "without reservations and pods all CPUs are shared by all") {
  CHECK(shared() == "0-7");
  CHECK(best_effort() == "0-7");
}

TEST_CASE_FIXTURE(PoolFixture, "an offline CPU is in no pool") {
  state.topology.cpus[7].online = false;
  CHECK(shared() == "0-6");
}

TEST_CASE_FIXTURE(PoolFixture,
                  "the CPUs that the scheduler gave a pod are not shared; best effort stays off those of LSE only") {
  pod("u1", state::KoordQos::lsr, "0-1");
  pod("u2", state::KoordQos::lse, "4");
  pod("u3", state::KoordQos::ls);
  CHECK(shared() == "2-3,5-7");
  CHECK(best_effort() == "0-3,5-7");
}

TEST_CASE_FIXTURE(PoolFixture, "a pod that has ended holds no CPUs, and a nonsensical annotation none either") {
  pod("u1", state::KoordQos::lsr, "0-1").phase = state::Phase::succeeded;
  pod("u2", state::KoordQos::lsr, "many");
  pod("u3", state::KoordQos::lsr).annotations[std::string(kResourceStatusAnnotation)] = "{";
  CHECK(shared() == "0-7");
}

TEST_CASE_FIXTURE(PoolFixture, "the node's reservation takes its CPUs from both, by list before by number") {
  annotate(kReservationAnnotation, R"({"resources":{"cpu":"1500m"}})");
  CHECK(pools().reserved.list() == "0-1");
  CHECK(shared() == "2-7");
  CHECK(best_effort() == "2-7");
  annotate(kReservationAnnotation, R"({"resources":{"cpu":"1500m"},"reservedCPUs":"7"})");
  CHECK(shared() == "0-6");
}

TEST_CASE_FIXTURE(PoolFixture, "CPUs for system pods are exclusive unless configured otherwise") {
  annotate(kSystemQosAnnotation, R"({"cpuset":"6-7"})");
  CHECK(shared() == "0-5");
  CHECK(best_effort() == "0-5");
  annotate(kSystemQosAnnotation, R"({"cpuset":"6-7","cpusetExclusive":false})");
  CHECK(shared() == "0-7");
}

TEST_CASE_FIXTURE(PoolFixture, "the kubelet's static pods keep their CPUs for themselves") {
  pod("u1", state::KoordQos::lsr);
  give("u1", "2-3");
  CHECK(shared() == "0-1,4-7");
  CHECK(best_effort() == "0-1,4-7");
  REQUIRE(pools().static_pods.size() == 1);
  CHECK(pools().static_pods[0].name == "pod-u1");
  CHECK(pools().static_pods[0].cpus.list() == "2-3");
}

TEST_CASE_FIXTURE(
    PoolFixture,
    "pods that share CPUs by their label, or have CPUs from the scheduler, are not static pods of the kubelet") {
  pod("u1", state::KoordQos::ls).labels["koordinator.sh/qosClass"] = "LS";
  pod("u2", state::KoordQos::lsr, "6-7");
  give("u1", "2-3");
  give("u2", "4");
  CHECK(pools().static_pods.empty());
  CHECK(shared() == "0-5");
}

TEST_CASE_FIXTURE(PoolFixture, "the CPUs of a static pod that is not known yet are taken all the same") {
  give("u9", "2-3");
  CHECK(shared() == "0-1,4-7");
  CHECK(pools().static_pods.empty());
}

TEST_CASE_FIXTURE(PoolFixture, "the file of another kubelet policy does not count") {
  give("u9", "2-3");
  state.kubelet->cpu_manager_policy = "none";
  CHECK(shared() == "0-7");
}

TEST_CASE_FIXTURE(PoolFixture, "the kubelet's reservation is reported, and is in the pools") {
  state.kubelet->reserved_cpus = "0,4";
  CHECK(pools().kubelet.list() == "0,4");
  state.kubelet->reserved_cpus.clear();
  state.kubelet->system_reserved["cpu"] = 500;
  state.kubelet->kube_reserved["cpu"] = 1600;
  CHECK(pools().kubelet.list() == "0-2");
  CHECK(shared() == "0-7");
}

TEST_CASE_FIXTURE(PoolFixture, "nothing is known of the pools while the kubelet's configuration or its file is not") {
  state.kubelet->cpu_manager_policy = "static";
  CHECK(error().starts_with("which CPUs the kubelet gave to pods is not known"));
  state.kubelet.reset();
  CHECK(error().starts_with("the kubelet's configuration is not known"));
}

TEST_CASE_FIXTURE(
    PoolFixture, "an annotation of the node that cannot be read costs its part of the pools, and is reported by name") {
  annotate(kReservationAnnotation, R"({"reservedCPUs":"all"})");
  annotate(kSystemQosAnnotation, R"({"cpuset":"6-7"})");
  CHECK(shared() == "0-5");
  REQUIRE(pools().problems.size() == 1);
  CHECK(pools().problems[0].starts_with(
      "the Node's annotation node.koordinator.sh/reservation is left out of account: reservedCPUs: "));
  CHECK_FALSE(pools().reservation_is_whole);
  annotate(kReservationAnnotation, R"({"resources":{"cpu":"1"}})");
  annotate(kSystemQosAnnotation, "[]");
  CHECK(shared() == "1-7");
  CHECK(pools().reservation_is_whole);
  CHECK(pools().problems.at(0).find("node.koordinator.sh/system-qos-resource") != std::string::npos);
}

TEST_CASE_FIXTURE(PoolFixture, "CPUs are picked by socket, then by core, threads of a core together") {
  for (state::Cpu& cpu : state.topology.cpus) cpu.core = cpu.cpu % 4;  // threads 0 and 4 share a core
  for (state::Cpu& cpu : state.topology.cpus) cpu.socket = cpu.numa_node = cpu.core / 2;
  CHECK(state::pick_cpus(state.topology, 3).list() == "0-1,4");
  CHECK(state::pick_cpus(state.topology, 5).list() == "0-2,4-5");
  CHECK(state::pick_cpus(state.topology, 100).list() == "0-7");
}
