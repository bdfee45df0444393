// SPDX-License-Identifier: Apache-2.0
#include "core/knob/governor.hpp"

#include <doctest/doctest.h>

#include "test/core/knob/fake_governor.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace koord::test;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(FakeGovernor, "the end of one session of a strategy takes nothing from its next one") {
  const Proposer old{"suppress", "main", 1}, fresh{"suppress", "main", 2};
  const ReportResults no_listener = [](std::vector<IntentResult>) {};
  enforce("suppress");
  governor.take(old, {intent("20000 100000")}, no_listener);
  governor.take(fresh, {intent("30000 100000")}, no_listener);
  governor.withdraw(old);
  CHECK(governor.active_intents() == 1);
  CHECK(value() == "30000 100000");
  governor.withdraw(fresh);
  CHECK(value() == kBefore);
}

TEST_CASE_FIXTURE(FakeGovernor, "by default a strategy is in shadow: all is recorded and nothing written") {
  propose("suppress", {intent("20000 100000")});
  CHECK(value() == kBefore);
  CHECK(last_reported("suppress") == Outcome::shadow);
  CHECK(reported["suppress"][0].final_value == kBefore);
  CHECK(last().outcome == Outcome::shadow);
  CHECK(last().before == kBefore);
  CHECK(last().wanted == "20000 100000");
  CHECK(last().reason == "the node is busy");
  CHECK(last().inputs == decltype(Decision::inputs){{"node_cpu_usage", "7.3"}});
}

TEST_CASE_FIXTURE(FakeGovernor, "a strategy with permission writes, and its withdrawal reverts the knob") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  CHECK(value() == "20000 100000");
  CHECK(last_reported("suppress") == Outcome::applied);
  governor.withdraw({"suppress", "main"});
  CHECK(value() == kBefore);
  CHECK(last().outcome == Outcome::reverted);
}

TEST_CASE_FIXTURE(FakeGovernor, "a plan replaces the plan before") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  propose("suppress", {});
  CHECK(value() == kBefore);
}

TEST_CASE_FIXTURE(FakeGovernor, "two strategies of one plugin have a plan each") {
  enforce("suppress");
  governor.take({"suppress", "one"}, {intent("20000 100000")}, [](auto) {});
  governor.take({"suppress", "two"}, {}, [](auto) {});
  CHECK(value() == "20000 100000");
}

TEST_CASE_FIXTURE(FakeGovernor, "an intent ends with its ttl unless it is proposed again") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  clock.advance(40s);
  propose("suppress", {intent("20000 100000")});
  clock.advance(40s);
  governor.expire();
  CHECK(value() == "20000 100000");
  clock.advance(20s);
  governor.expire();
  CHECK(value() == kBefore);
  CHECK(last_reported("suppress") == Outcome::expired);
  CHECK(governor.active_intents() == 0);
}

TEST_CASE_FIXTURE(FakeGovernor, "with two strategies one value holds, and the loser learns the winner") {
  enforce("mild");
  enforce("strict");
  propose("mild", {intent("40000 100000")});
  CHECK(last_reported("mild") == Outcome::applied);
  propose("strict", {intent("20000 100000")});
  CHECK(value() == "20000 100000");
  CHECK(last_reported("mild") == Outcome::lost);
  CHECK(reported["mild"].back().winner == "strict");
  CHECK(reported["mild"].back().final_value == "20000 100000");
  governor.withdraw({"strict", "main"});
  CHECK(value() == "40000 100000");
  CHECK(last_reported("mild") == Outcome::applied);
}

TEST_CASE_FIXTURE(FakeGovernor, "a second plugin that proposes the winner's value gets the result applied, too") {
  enforce("a");
  enforce("b");
  propose("a", {intent("20000 100000")});
  propose("b", {intent("20000 100000")});
  CHECK(last_reported("b") == Outcome::applied);
  CHECK(reported["b"].back().winner == "a");
}

TEST_CASE_FIXTURE(FakeGovernor, "a strategy in shadow takes nothing from one that writes") {
  enforce("mild");
  propose("mild", {intent("40000 100000")});
  propose("strict", {intent("20000 100000")});
  CHECK(value() == "40000 100000");
  CHECK(last_reported("mild") == Outcome::applied);
  CHECK(last_reported("strict") == Outcome::shadow);
  propose("strict", {intent("45000 100000")});
  CHECK(last_reported("strict") == Outcome::lost);
  CHECK(reported["strict"].back().winner == "mild");
}

TEST_CASE_FIXTURE(FakeGovernor, "switching a strategy off reverts its writes") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  governor.set_mode("suppress", Mode::off);
  CHECK(value() == kBefore);
  CHECK(last_reported("suppress") == Outcome::off);
}

TEST_CASE_FIXTURE(FakeGovernor, "the same result again is not reported: neither in the log nor to the strategy") {
  propose("suppress", {intent("20000 100000")});
  const std::size_t records = governor.decisions().size();
  propose("suppress", {intent("20000 100000")});
  CHECK(governor.decisions().size() == records);
  CHECK(reported["suppress"].size() == 2);  // results of a plan are reported each time
}

TEST_CASE_FIXTURE(FakeGovernor,
                  "a plan that is the one before again is not looked into before half of the refresh period is over") {
  governor.set_limits({.refresh = 10s});
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  node.write("cgroup/be/cpu.max", "70000 100000\n");
  clock.advance(4s);
  propose("suppress", {intent("20000 100000")});
  CHECK(value() == "70000 100000");
  clock.advance(6s);
  propose("suppress", {intent("20000 100000")});
  CHECK(value() == "20000 100000");
}

TEST_CASE_FIXTURE(FakeGovernor, "a plan that is repeated holds on, and only its changes are reported") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  clock.advance(40s);
  CHECK(governor.repeat({"suppress", "main"}));
  CHECK(reported["suppress"].size() == 1);
  clock.advance(40s);
  governor.expire();
  CHECK(value() == "20000 100000");

  governor.set_mode("suppress", Mode::shadow);
  CHECK(governor.repeat({"suppress", "main"}));
  REQUIRE(reported["suppress"].size() == 2);
  CHECK(reported["suppress"].back().outcome == Outcome::shadow);
}

TEST_CASE_FIXTURE(FakeGovernor, "a plan of which something has ended cannot be repeated, nor one that is not there") {
  CHECK_FALSE(governor.repeat({"suppress", "main"}));
  propose("suppress", {intent("20000 100000")});
  clock.advance(1min);
  governor.expire();
  CHECK_FALSE(governor.repeat({"suppress", "main"}));
}

TEST_CASE_FIXTURE(FakeGovernor, "due knobs are read although no strategy proposes anything") {
  governor.set_limits({.refresh = 10s});
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  propose("watcher", {intent("30000 100000")});
  node.write("cgroup/be/cpu.max", "70000 100000\n");
  clock.advance(10s);
  governor.expire();
  CHECK(value() == "20000 100000");
  CHECK(reported.at("watcher").back().final_value == "20000 100000");
}

TEST_CASE_FIXTURE(FakeGovernor, "an intent that changes leaves the others of its plan as they are") {
  node.write("cgroup/ls/cpu.max", "max 100000\n");
  enforce("suppress");
  propose("suppress", {intent("20000 100000"), intent("30000 100000", 0, "ls")});
  propose("suppress", {intent("20000 100000"), intent("40000 100000", 0, "ls")});
  CHECK(value() == "20000 100000");
  CHECK(trim(*read_file(node.path("cgroup/ls/cpu.max"))) == "40000 100000");
  propose("suppress", {intent("40000 100000", 0, "ls")});
  CHECK(value() == kBefore);
  CHECK(trim(*read_file(node.path("cgroup/ls/cpu.max"))) == "40000 100000");
}

TEST_CASE_FIXTURE(
    FakeGovernor,
    "a burst follows its quota though another plugin proposes the quota and the burst is not proposed again") {
  node.write("cgroup/be/cpu.max.burst", "0\n");
  enforce("burst");
  enforce("suppress");
  propose("burst", {minute_intent(Level::qos, "cpu.max.burst", "be", "40000", 0)});
  propose("suppress", {intent("30000 100000")});
  CHECK(trim(*read_file(node.path("cgroup/be/cpu.max.burst"))) == "30000");
  propose("suppress", {});
  CHECK(trim(*read_file(node.path("cgroup/be/cpu.max.burst"))) == "40000");
}

TEST_CASE_FIXTURE(FakeGovernor, "a missing cgroup is reported as gone") {
  enforce("a");
  propose("a", {intent("20000 100000", 0, "nowhere")});
  propose("b", {intent("20000 100000", 0, "nowhere")});
  CHECK(last_reported("a") == Outcome::gone);
  CHECK(last_reported("b") == Outcome::gone);
}

TEST_CASE_FIXTURE(FakeGovernor, "the end reverts everything") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  governor.stop();
  CHECK(value() == kBefore);
  CHECK(governor.held() == 0);
}

TEST_CASE_FIXTURE(FakeGovernor, "a one-shot is done once for each plan that has it, and in shadow not at all") {
  node.write("cgroup/cgroup.controllers", "cpu memory\n");
  node.write("cgroup/be/memory.reclaim", "");
  Governor with_memory{clock, *cgroup::Layout::detect(node.roots()), node.roots(), originals};
  auto reclaimed = [&] {
    const std::string text = *read_file(node.path("cgroup/be/memory.reclaim"));
    node.write("cgroup/be/memory.reclaim", "");
    return text;
  };
  const Intent act = minute_intent(Level::qos, "memory.reclaim", "be", "4096", 0);
  const ReportResults no_listener = [](std::vector<IntentResult>) {};
  std::vector<Outcome> outcomes;
  with_memory.take({"reclaim", "main"}, {act}, no_listener);
  CHECK(reclaimed() == "");
  with_memory.set_mode("reclaim", Mode::enforce);
  CHECK(reclaimed() == "4096");
  with_memory.take({"other", "main"}, {intent("20000 100000")}, no_listener);
  CHECK(reclaimed() == "");
  with_memory.take({"reclaim", "main"}, {act}, [&](std::vector<IntentResult> results) {
    for (const IntentResult& result : results) outcomes.push_back(result.outcome);
  });
  CHECK(reclaimed() == "4096");
  CHECK(with_memory.repeat({"reclaim", "main"}));
  CHECK(reclaimed() == "4096");
  CHECK(outcomes == std::vector{Outcome::applied, Outcome::applied});  // reported each time it was executed
}
