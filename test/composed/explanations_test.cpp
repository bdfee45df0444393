// SPDX-License-Identifier: Apache-2.0
// The agent's explanations of inactive strategies: an invalid number, a busy CPU pool, a missing NodeSLO.
#include <doctest/doctest.h>

#include <filesystem>

#include "test/composed/strategy_rows.hpp"

using namespace koord::test;

namespace {

constexpr auto kPatience = std::chrono::minutes(3);

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace

TEST_CASE("an invalid number makes CPU burst inactive: reverts, capabilities and one log line name the number") {
  const Row row = burst();
  Sessions node(row.given);
  row.expect(node);
  REQUIRE(node.start());
  REQUIRE_MESSAGE(node.settles(), node.unsettled());
  CHECK_FALSE(has(node.agent->log(), "node_cpu_usage is not measured"));
  CHECK(has(node.agent->ctl({"capabilities"}).output, "qos-cpu-burst"));
  node.set_node_slo("{cpuBurstStrategy: {policy: auto, cfsQuotaBurstPercent: 90}}");
  REQUIRE_MESSAGE(node.becomes_as_before(), node.differences());
  const std::string reverts = node.agent->ctl({"decisions", "--knob", "cpu.max", "--outcome", "reverted"}).output;
  CHECK_MESSAGE(
      has(reverts, "no intent holds it any more: CPUBurst is inactive: cpuBurstStrategy.cfsQuotaBurstPercent"),
      reverts);
  const std::string capabilities = node.agent->get("/api/v1/capabilities");
  CHECK_MESSAGE(
      has(capabilities,
          R"("name":"qos-cpu-burst","state":"inactive","detail":"CPUBurst is inactive: cpuBurstStrategy.cfsQuotaBurst)"),
      capabilities);
  REQUIRE(eventually([&] { return has(node.agent->log(), "inactive because of it: CPUBurst"); }, kPatience));
  CHECK_MESSAGE(count_of(node.agent->log(), "cfsQuotaBurstPercent") == 1, node.agent->log());
  node.set_node_slo(row.given.node_slo);
  CHECK_MESSAGE(node.settles(), node.unsettled());
  CHECK(has(node.agent->get("/api/v1/capabilities"), R"("name":"qos-cpu-burst","state":"supported")"));
  CHECK(node.agent->stop() == 0);
}

TEST_CASE(
    "an unknown cpuSuppressPolicy makes CPU suppress inactive: capabilities, koordctl slo and the log name field, value and choices") {
  Sessions node(
      given("qos-cpu-suppress", "resourceUsedThresholdWithBE: {enable: true, cpuSuppressPolicy: Bogus}", "", ""));
  REQUIRE(node.start());
  const std::string reason =
      "resourceUsedThresholdWithBE.cpuSuppressPolicy: found \"Bogus\", expected one of cpuset, cfsQuota";
  const auto capabilities = [&] { return node.agent->ctl({"capabilities"}).output; };
  CHECK_MESSAGE(eventually([&] { return has(capabilities(), "BECPUSuppress is inactive: " + reason); }, kPatience),
                capabilities());
  const std::string slo = node.agent->ctl({"slo"}).output;
  CHECK_MESSAGE(
      has(slo, "resourceUsedThresholdWithBE.cpuSuppressPolicy  \"Bogus\"  one of cpuset, cfsQuota  BECPUSuppress\n"),
      slo);
  CHECK_MESSAGE(has(node.agent->log(), reason + "; inactive because of it: BECPUSuppress"), node.agent->log());
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("for a throttled container without a raised quota, koordctl why shows the reason") {
  Sessions node(
      given("qos-cpu-burst",
            "cpuBurstStrategy: {policy: cfsQuotaBurstOnly, cfsQuotaBurstPercent: 200, sharePoolThresholdPercent: 0}",
            "", ""));
  node.expect(node.quota_file(node.pods.service), {node.pods.is_v2() ? "10000 100000" : "10000"});
  REQUIRE(node.start());
  const auto why = [&] { return node.agent->ctl({"events"}).output; };
  REQUIRE_MESSAGE(eventually([&] { return has(why(), "CPU quota not raised"); }, kPatience), node.agent->log());
  CHECK_MESSAGE(has(why(), "and keeps it: the shared CPUs are overloaded"), why());
  CHECK_MESSAGE(node.unsettled() == "", node.unsettled());
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("strategies that wait for the NodeSLO log this once, and log its arrival once") {
  Sessions::Given all{.plugins = {"qos-cpu-suppress", "qos-cgroup-reconcile", "qos-system"},
                      .gates = "CgroupReconcile=true,SystemConfig=true",
                      .node_slo = spec(kQuota)};
  Sessions node(all);
  std::filesystem::remove(node.folder / "slo.yaml");
  node.agent->launch({"--feature-gates=" + all.gates});  // it is not ready without the file
  const auto is_logged_three_times = [&](std::string_view line) {
    return eventually([&] { return count_of(node.agent->log(), line) >= 3; }, kPatience) &&
           count_of(node.agent->log(), line) == 3;
  };
  CHECK_MESSAGE(is_logged_three_times("waiting for the NodeSLO: this node has none"), node.agent->log());
  node.set_node_slo(all.node_slo);
  CHECK_MESSAGE(is_logged_three_times("the NodeSLO has come"), node.agent->log());
  CHECK(node.agent->stop() == 0);
}
