// SPDX-License-Identifier: Apache-2.0
// qos-cpu-suppress through the whole agent, which enforces it on this machine's kernel: best-effort load in one cgroup
// and a service in another, pods and NodeSLO from files. The test reads the kernel's own files; nothing depends on
// time.
#include <doctest/doctest.h>

#include <map>

#include "core/base/cpu_set.hpp"
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
  explicit CpuSuppressFixture(const std::string& policy) {
    pods.set_shares(pods.besteffort, 2);  // as a kubelet does
    pods.write_files(folder.path(), slo(true));
    before = pods.knobs();
    agent = std::make_unique<AgentProcess>(
        "roots: {cgroup: " + pods.root(folder.path()) + "}\nstate: {source: file, file: {pods: " + folder / "pods.yaml" + ", nodeSLO: " +
            folder / "slo.yaml" + "}}\nqos: {mode: enforce, directory: " + folder / "qos" + "}",
        std::vector<std::string>{built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource"), built("plugins/qos-cpu-suppress")});
    start_arguments = {"--set", "plugins.settings={qos-cpu-suppress: {config: {policy: " + policy + "}}}"};
    REQUIRE(agent->start(start_arguments));
  }
  ~CpuSuppressFixture() { pods.batch.end_processes(); }

  void node_slo(bool enable) { pods.write_slo(folder.path(), slo(enable)); }
  bool is_as_before() const { return pods.knobs() == before; }
  std::string differences() const {
    std::string all;
    for (const auto& [file, text] : pods.knobs())
      if (before.at(file) != text) all += file + ": '" + before.at(file) + "' is now '" + text + "'\n";
    return all;
  }

  TemporaryFolder folder;
  PodsByHand pods{"suppress"};
  ChildProcess load{[this] { pods.become_load(pods.batch); }};
  std::map<std::string, std::string> before;
  std::vector<std::string> start_arguments;
  std::unique_ptr<AgentProcess> agent;
};

// The kernel says `wanted`; then the NodeSLO switches it off and on, and the agent ends: each time all is as it was.
void comes_and_goes(CpuSuppressFixture& fixture, const koord::test::RealCgroup& where, std::string_view knob, const std::string& wanted) {
  const auto holds = [&] { return fixture.pods.read(where, knob) == wanted; };
  INFO("log: ", fixture.agent->log());
  REQUIRE(eventually(holds, kMinute));
  CHECK(fixture.agent->get("/api/v1/decisions").find("\"result\":\"applied\"") != std::string::npos);
  fixture.node_slo(false);
  CHECK_MESSAGE(eventually([&] { return fixture.is_as_before(); }, kMinute), fixture.differences());
  fixture.node_slo(true);
  REQUIRE(eventually(holds, kMinute));
  CHECK(fixture.agent->stop() == 0);
  CHECK_MESSAGE(fixture.is_as_before(), fixture.differences());
}

}  // namespace

TEST_CASE("cfsQuota bounds the time of best-effort pods, and off leaves every file as it was") {
  CpuSuppressFixture fixture("cfsQuota");
  comes_and_goes(fixture, fixture.pods.besteffort, "cpu.max", "2000 100000");
}

TEST_CASE("cpuset confines best-effort containers, and off leaves every file as it was") {
  CpuSuppressFixture fixture("cpuset");
  // Nothing to confine to; and a kernel with v2 keeps a set as long as there are tasks, which test/node has.
  if (fixture.pods.cpus() < 2 || fixture.pods.is_v2()) return;
  INFO("log: ", fixture.agent->log());
  const auto& where = fixture.pods.batch;
  const std::size_t least = fixture.pods.cpus() < 4 ? 1 : 2;
  CHECK(eventually([&] { return koord::CpuSet::parse(fixture.pods.read(where, "cpuset.cpus")).value().size() == least; }, kMinute));
  comes_and_goes(fixture, where, "cpuset.cpus", fixture.pods.read(where, "cpuset.cpus"));
}

TEST_CASE("cpuIdle lets best-effort pods run on otherwise idle CPUs, and off leaves every file as it was, the weight too") {
  CpuSuppressFixture fixture("cpuIdle");
  if (!fixture.pods.knows("cpu.idle")) return;  // before Linux 5.15
  comes_and_goes(fixture, fixture.pods.besteffort, "cpu.idle", "1");
}

TEST_CASE("in shadow it says what it would do, and no file changes") {
  CpuSuppressFixture fixture("cfsQuota");
  CHECK(eventually([&] { return fixture.pods.read(fixture.pods.besteffort, "cpu.max") == "2000 100000"; }, kMinute));
  CHECK(fixture.agent->stop() == 0);
  const std::vector<std::string> shadow = {"--set", "qos.mode=shadow"};
  fixture.start_arguments.insert(fixture.start_arguments.end(), shadow.begin(), shadow.end());
  REQUIRE(fixture.agent->start(fixture.start_arguments));
  CHECK(eventually([&] { return fixture.agent->get("/api/v1/decisions").find("\"result\":\"shadow\"") != std::string::npos; }, kMinute));
  CHECK_MESSAGE(fixture.is_as_before(), fixture.differences());
}
