// SPDX-License-Identifier: Apache-2.0
// qos-cpu-suppress through the whole agent, which enforces it on this machine's kernel: best-effort load in one cgroup
// and a service in another, pods and NodeSLO from files. The test reads the kernel's own files; nothing depends on
// time. test/node/cpu_suppress_test.cpp has each policy, test/composed interrupts them.
#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "test/support/agent_process.hpp"
#include "test/support/pods_by_hand.hpp"

using namespace koord::test;

namespace {

constexpr auto kMinute = std::chrono::minutes(1);

// A threshold of nothing leaves best-effort pods the least that there is, however busy this machine is.
std::string slo(bool enable) {
  return std::string("{resourceUsedThresholdWithBE: {enable: ") + (enable ? "true" : "false") +
         ", cpuSuppressThresholdPercent: 0, cpuSuppressPolicy: cfsQuota}}";
}

struct CpuSuppressFixture {
  explicit CpuSuppressFixture(const std::string& policy = "cfsQuota") {
    pods.set_shares(pods.besteffort, 2);  // as a kubelet does
    pods.write_files(folder.path(), slo(true));
    before = pods.knobs();
    agent = std::make_unique<AgentProcess>(
        "roots: {cgroup: " + pods.root(folder.path()) +
            "}\nstate: {source: file, file: {pods: " + folder / "pods.yaml" + ", nodeSLO: " + folder / "slo.yaml" +
            "}}\nqos: {mode: enforce, directory: " + folder / "qos" + "}",
        std::vector<std::string>{built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource"),
                                 built("plugins/qos-cpu-suppress")});
    REQUIRE(agent->start({"--set", "plugins.settings={qos-cpu-suppress: {config: {policy: " + policy + "}}}"}));
  }
  ~CpuSuppressFixture() { pods.batch.end_processes(); }

  bool is_suppressed() const { return pods.read(pods.besteffort, "cpu.max") == "2000 100000"; }
  bool is_idle() const { return pods.read(pods.besteffort, "cpu.idle") == "1"; }
  void node_slo(bool enable) { pods.write_slo(folder.path(), slo(enable)); }

  TemporaryFolder folder;
  PodsByHand pods{"suppress"};
  ChildProcess load{[this] { pods.become_load(pods.batch); }};
  std::map<std::string, std::string> before;
  std::unique_ptr<AgentProcess> agent;
};

// The policy holds; then the NodeSLO switches it off and on, and the agent ends: each time all is as it was.
void comes_and_goes(CpuSuppressFixture& fixture, const std::function<bool()>& holds) {
  INFO("log: ", fixture.agent->log());
  REQUIRE(eventually(holds, kMinute));
  CHECK(fixture.agent->get("/api/v1/decisions").find("\"result\":\"applied\"") != std::string::npos);
  fixture.node_slo(false);
  eventually([&] { return changes(fixture.before, fixture.pods.knobs()).empty(); }, kMinute);
  CHECK(changes(fixture.before, fixture.pods.knobs()) == "");
  fixture.node_slo(true);
  REQUIRE(eventually(holds, kMinute));
  CHECK(fixture.agent->stop() == 0);
  CHECK(changes(fixture.before, fixture.pods.knobs()) == "");
}

}  // namespace

TEST_CASE("cfsQuota bounds the time of best-effort pods, and off leaves every file as it was") {
  CpuSuppressFixture fixture;
  comes_and_goes(fixture, [&] { return fixture.is_suppressed(); });
}

TEST_CASE(
    "cpuIdle lets best-effort pods run on otherwise idle CPUs, and off leaves every file as it was, the weight too") {
  CpuSuppressFixture fixture("cpuIdle");
  if (!fixture.pods.knows("cpu.idle")) return;  // before Linux 5.15
  comes_and_goes(fixture, [&] { return fixture.is_idle(); });
}

TEST_CASE("in shadow the intents are reported, and no file changes") {
  CpuSuppressFixture fixture;
  CHECK(eventually([&] { return fixture.is_suppressed(); }, kMinute));
  CHECK(fixture.agent->stop() == 0);
  REQUIRE(fixture.agent->start({"--set", "qos.mode=shadow"}));
  CHECK(eventually(
      [&] { return fixture.agent->get("/api/v1/decisions").find("\"result\":\"shadow\"") != std::string::npos; },
      kMinute));
  CHECK(changes(fixture.before, fixture.pods.knobs()) == "");
}
