// SPDX-License-Identifier: Apache-2.0
// CPU burst through the whole agent, alone and with the other strategies. The agent is interrupted in every way and
// killed many times, and the quota must never exceed limit x percent. KOORD_TEST_KILLS=100 sets the number of kills
// (default: 20).
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include "core/base/file.hpp"
#include "test/composed/strategy_rows.hpp"

using namespace koord::test;

TEST_CASE("CPU burst: after any interruption the quota rises to limit x percent and never exceeds it") {
  check_property(burst());
}

TEST_CASE(
    "all strategies in one agent: after any interruption each sets its values and changes no other strategy's values") {
  Sessions::Given all{.plugins = {"qos-cpu-burst", "qos-cpu-suppress", "qos-cgroup-reconcile", "qos-system"},
                      .gates = "CgroupReconcile=true,SystemConfig=true",
                      .node_slo = spec(std::string(kBurst) + ", " + kQuota + ", " + kSystem +
                                       ", resourceQOSStrategy: " + spec(kMemory)),
                      .config = "windowSeconds: 5",
                      .config_again = "windowSeconds: 6"};
  check_property({"all strategies", all, [](Sessions& node) {
                    expect_burst(node);
                    expect_quota(node);
                    expect_memory(node);
                    expect_system(node);
                  }});
}

TEST_CASE("CPU burst: of an agent killed 20 times while it enforces, no session has a quota above limit x percent") {
  const char* asked = std::getenv("KOORD_TEST_KILLS");
  const int kills = asked ? std::atoi(asked) : 20;
  const Row row = burst();
  Sessions node(row.given);
  row.expect(node);
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled());
  std::mt19937 random(1);
  for (int kill = 1; kill <= kills; ++kill) {
    CAPTURE(kill);
    node.kill();
    REQUIRE(node.start());
    // Kill the session at a random age: from its first round to three rounds after the last increase.
    const double age = 1 + static_cast<double>(random() % 4);
    REQUIRE(eventually([&] { return node.rounds() >= age; }, std::chrono::minutes(1)));
    if (kill % 5 == 0) REQUIRE_MESSAGE(node.settles(), node.unsettled());
    REQUIRE_MESSAGE(node.outside() == "", node.outside());
  }
  check_undone(node);
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}

// A guaranteed pod without a label counts as LSR, but has no exclusive CPUs.
TEST_CASE(
    "CPU burst: a guaranteed pod without a label gets limit x percent and its limit back, and always has a quota") {
  const Row row = burst();
  Sessions node(row.given);
  row.expect(node);
  const std::string pod = "kubepods/burstable/podservice", resources = "{cpu: 100m, memory: 64Mi}";
  const std::string container = node.pods.service.dir().substr(node.pods.top.dir().size() + 1);
  REQUIRE(koord::write_file_atomically(
      node.folder / "pods.yaml",
      "kind: PodList\nitems:\n- metadata: {uid: service, name: service, namespace: default, annotations: "
      "{koordetector.sh/cgroup-dir: " +
          pod + ", koordetector.sh/cgroup-dir.main: " + container +
          "}}\n  spec: {containers: [{name: main, resources: {requests: " + resources + ", limits: " + resources +
          "}}]}\n"));
  REQUIRE(node.start());
  CHECK_MESSAGE(node.settles(), node.unsettled());
  node.interrupt(Interruption::sigkill);
  CHECK_MESSAGE(node.settles(), node.unsettled());
  CHECK_MESSAGE(node.outside() == "", node.outside());
  CHECK(node.agent->stop() == 0);
  CHECK_MESSAGE(node.is_as_before(), node.differences());
}
