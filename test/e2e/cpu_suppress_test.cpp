// SPDX-License-Identifier: Apache-2.0
// qos-cpu-suppress through the whole agent, which enforces it on this machine's kernel: best-effort load in one cgroup,
// a service in a different cgroup, pods and the NodeSLO from files. The test reads the kernel's files. Its results do
// not depend on time. test/node/cpu_suppress_test.cpp tests each policy, test/composed interrupts them.
#include <doctest/doctest.h>

#include <map>

#include "test/support/agent_process.hpp"
#include "test/support/pods_by_hand.hpp"

using namespace koord::test;

namespace {

constexpr auto kMinute = std::chrono::minutes(1);

// With a threshold of 0 best-effort pods always get the minimum quota, even if this machine is idle.
std::string slo(bool enable) {
  return std::string("{resourceUsedThresholdWithBE: {enable: ") + (enable ? "true" : "false") +
         ", cpuSuppressThresholdPercent: 0, cpuSuppressPolicy: cfsQuota}}";
}

struct CpuSuppressFixture {
  CpuSuppressFixture() {
    pods.set_shares(pods.besteffort, 2);  // the shares that a kubelet sets
    pods.write_files(folder.path(), slo(true));
    before = pods.knobs();
    agent = std::make_unique<AgentProcess>(
        "roots: {cgroup: " + pods.root(folder.path()) +
            "}\nstate: {source: file, file: {pods: " + folder / "pods.yaml" + ", nodeSLO: " + folder / "slo.yaml" +
            "}}\nqos: {mode: enforce, directory: " + folder / "qos" + "}",
        std::vector<std::string>{built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource"),
                                 built("plugins/qos-cpu-suppress")});
    REQUIRE(agent->start());
  }
  ~CpuSuppressFixture() { pods.batch.end_processes(); }

  bool is_suppressed() const { return pods.read(pods.besteffort, "cpu.max") == "2000 100000"; }
  void node_slo(bool enable) { pods.write_slo(folder.path(), slo(enable)); }

  TemporaryFolder folder;
  PodsByHand pods{"suppress"};
  ChildProcess load{[this] { pods.become_load(pods.batch); }};
  std::map<std::string, std::string> before;
  std::unique_ptr<AgentProcess> agent;
};

}  // namespace

TEST_CASE("a quota on best-effort pods follows the NodeSLO, and the agent's end restores every file") {
  CpuSuppressFixture fixture;
  INFO("log: ", fixture.agent->log());
  REQUIRE(eventually([&] { return fixture.is_suppressed(); }, kMinute));
  CHECK(fixture.agent->get("/api/v1/decisions").find("\"result\":\"applied\"") != std::string::npos);
  fixture.node_slo(false);
  eventually([&] { return changes(fixture.before, fixture.pods.knobs()).empty(); }, kMinute);
  CHECK(changes(fixture.before, fixture.pods.knobs()) == "");
  fixture.node_slo(true);
  REQUIRE(eventually([&] { return fixture.is_suppressed(); }, kMinute));
  CHECK(fixture.agent->stop() == 0);
  CHECK(changes(fixture.before, fixture.pods.knobs()) == "");
}

TEST_CASE("in shadow mode the intents are reported, and no file changes") {
  CpuSuppressFixture fixture;
  CHECK(eventually([&] { return fixture.is_suppressed(); }, kMinute));
  CHECK(fixture.agent->stop() == 0);
  REQUIRE(fixture.agent->start({"--set", "qos.mode=shadow"}));
  CHECK(eventually(
      [&] { return fixture.agent->get("/api/v1/decisions").find("\"result\":\"shadow\"") != std::string::npos; },
      kMinute));
  CHECK(changes(fixture.before, fixture.pods.knobs()) == "");
}
