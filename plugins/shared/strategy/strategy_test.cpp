// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "plugins/shared/strategy/proposal.hpp"
#include "plugins/shared/strategy/refusals.hpp"
#include "plugins/shared/strategy/slo_of_node.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/made_intent.hpp"

using namespace koord;
using namespace koord::strategy;

namespace {

koord_intent_result result_of(const char* knob, const char* dir, koord_status status, const char* winner = "") {
  koord_intent_result result{};
  result.struct_size = sizeof result;
  result.status = status;
  result.knob = plugin::str(knob);
  result.cgroup_dir = plugin::str(dir);
  result.winner = plugin::str(winner);
  return result;
}

plugin::Strided<koord_intent_result> strided(const std::vector<koord_intent_result>& results) {
  return {results.data(), static_cast<std::uint32_t>(results.size()), sizeof(koord_intent_result)};
}

}  // namespace

TEST_CASE("a plan reaches the host completely, with reasons, inputs and time to live") {
  test::FakeNode node({});
  test::FakeHost host(node);
  const Intents intents = {{KOORD_LEVEL_POD, "memory.high", "a/b", "4096", "because", {{"used", "7"}}, 3},
                           {KOORD_LEVEL_QOS, "memory.low", "a", "max", "so", {}, 0, KOORD_ROLE_CAP}};
  propose(host.abi(), host.service<koord_svc_knobs>("koord.knobs/1"), intents, std::chrono::seconds(10));
  const knob::Plan plan = host.context().take_plan();
  REQUIRE(plan.size() == 2);
  knob::Intent first = test::made_intent("memory.high", "4096");
  first.level = decision::Level::pod;
  first.cgroup_dir = "a/b";
  first.reason = "because";
  first.inputs = {{"used", "7"}};
  first.priority = 3;
  first.ttl = std::chrono::seconds(10);
  CHECK(plan[0] == first);
  CHECK(plan[1].level == decision::Level::qos);
  CHECK(plan[0].role == decision::Role::set);
  CHECK(plan[1].role == decision::Role::cap);
}

TEST_CASE("a part of a plan that the host refuses is a failure") {
  test::FakeNode node({});
  test::FakeHost host(node);
  const Intents intents = {{KOORD_LEVEL_POD, "memory.hihg", "a", "1", "x"}};
  CHECK_THROWS_AS(propose(host.abi(), host.service<koord_svc_knobs>("koord.knobs/1"), intents, std::chrono::seconds(1)),
                  plugin::Failure);
}

TEST_CASE("a reason why a knob does not have the intended value is logged once for any number of cgroups") {
  Refusals refusals;
  const std::vector<koord_intent_result> lost = {result_of("memory.high", "a", KOORD_E_AGAIN, "x"),
                                                 result_of("memory.high", "b", KOORD_E_AGAIN, "x")};
  CHECK(
      refusals.new_lines(strided(lost)) ==
      std::vector<std::string>{
          "memory.high of 'a' does not have the intended value: the intent of 'x' applies (logged once for all cgroups)"});
  CHECK(refusals.new_lines(strided(lost)).empty());
  const std::vector<koord_intent_result> other = {result_of("vm.min_free_kbytes", "", KOORD_E_IO)};
  CHECK(
      refusals.new_lines(strided(other)) ==
      std::vector<std::string>{
          "vm.min_free_kbytes does not have the intended value: the kernel or another program has set another value"});
}

TEST_CASE("an applied intent, an ended cgroup and the mode shadow are not reported") {
  Refusals refusals;
  CHECK(refusals
            .new_lines(strided({result_of("k", "a", KOORD_OK), result_of("k", "b", KOORD_E_GONE),
                                result_of("k", "c", KOORD_E_DENIED)}))
            .empty());
}

TEST_CASE("a knob that all cgroups lack is missing for ten minutes, a knob that only some lack is not") {
  MissingKnobs knobs;
  knobs.learn(strided({result_of("memory.priority", "a", KOORD_E_UNSUPPORTED),
                       result_of("memory.min", "a", KOORD_E_UNSUPPORTED), result_of("memory.min", "b", KOORD_OK),
                       result_of("memory.low", "a", KOORD_E_GONE)}),
              1000);
  CHECK(knobs.names(1000) == std::vector<std::string>{"memory.priority"});
  CHECK(knobs.missing("memory.priority", 1000 + 599'000'000'000));
  CHECK_FALSE(knobs.missing("memory.priority", 1000 + 600'000'000'000));
  CHECK_FALSE(knobs.missing("memory.min", 1000));
}

TEST_CASE("the NodeSLO is parsed once a version, and an unreadable one is reported once and counts as missing") {
  test::FakeNode node({});
  test::FakeHost host(node);
  const auto* state = host.service<koord_svc_state>("koord.state/1");
  SloOfNode slo;
  host.hub().publish({.node_slo = R"({"systemStrategy":{"watermarkScaleFactor":150}})"});
  CHECK(slo.follow(plugin::Snapshot(host.abi(), state)).empty());
  REQUIRE(slo.get());
  CHECK(slo.get()->system->watermark_scale_factor == 150);
  host.hub().publish({.node_slo = "[]"});
  CHECK(slo.follow(plugin::Snapshot(host.abi(), state)).size() == 1);
  CHECK(slo.follow(plugin::Snapshot(host.abi(), state)).empty());
  CHECK(slo.get() == nullptr);
}

TEST_CASE("a missing NodeSLO is reported ten seconds after the pods are known, and its arrival after that") {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  test::FakeNode node({});
  test::FakeHost host(node);
  const auto* state = host.service<koord_svc_state>("koord.state/1");
  SloOfNode slo;
  const auto line_after = [&](std::uint64_t seconds) {
    slo.follow(plugin::Snapshot(host.abi(), state));
    return slo.new_line(seconds * kSecond);
  };
  host.hub().publish({.topology = state::Topology{}});
  CHECK(line_after(1) == "");
  CHECK(line_after(100) == "");  // the source has delivered nothing yet
  host.hub().publish({.pods = std::vector<state::Pod>{}});
  CHECK(line_after(101) == "");
  CHECK(line_after(111) == "waiting for the NodeSLO: this node has none");
  CHECK(line_after(200) == "");
  host.hub().publish({.node_slo = "{}"});
  CHECK(line_after(201) == "the NodeSLO has come");
  CHECK(line_after(202) == "");
}

TEST_CASE("a NodeSLO that arrives with the pods is not reported as a change") {
  test::FakeNode node({});
  test::FakeHost host(node);
  SloOfNode slo;
  host.hub().publish({.pods = std::vector<state::Pod>{}, .node_slo = "{}"});
  for (std::uint64_t second = 0; second < 60; ++second) {
    slo.follow(plugin::Snapshot(host.abi(), host.service<koord_svc_state>("koord.state/1")));
    CHECK(slo.new_line(second * 1'000'000'000) == "");
  }
}
