// SPDX-License-Identifier: Apache-2.0
// Knobs that a strategy may not write: an operator's override, hands-off, exclusive CPUs.
#include <doctest/doctest.h>

#include "test/core/knob/fake_governor.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace koord::test;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(RuledGovernor,
                  "an operator's override of a strategy lasts until its time is over; its start and end are recorded") {
  propose("suppress", {intent("20000 100000")});
  REQUIRE(governor.override_mode("suppress", Mode::enforce, 30s, "operator uid 0"));
  CHECK(value() == "20000 100000");
  clock.advance(29s);
  governor.expire();
  CHECK(value() == "20000 100000");
  clock.advance(1s);
  governor.expire();
  CHECK(value() == kBefore);
  CHECK(last_reported("suppress") == Outcome::shadow);
  std::vector<std::string> switches;
  for (const Decision& one : governor.decisions())
    if (one.outcome == Outcome::switched)
      switches.push_back(one.plugin + " from " + one.before + " to " + one.after + ": " + one.reason);
  CHECK(switches == std::vector<std::string>{"suppress from shadow to enforce: set by operator uid 0 for 30s",
                                             "suppress from enforce to shadow: the operator's setting has expired"});
}

TEST_CASE_FIXTURE(RuledGovernor, "no quota takes time of CPUs that are a container's own") {
  auto subjects = std::make_shared<Subjects>();
  subjects->add("be", {"u-1", "shop", "nightly", "app", {}, true});
  governor.set_subjects(std::move(subjects));
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  CHECK(value() == kBefore);
  CHECK(last_reported("suppress") == Outcome::failed);
  CHECK(governor.decisions().back().problem == "its CPUs are its own, and it would be throttled on them");
}

TEST_CASE_FIXTURE(RuledGovernor, "switching the node off takes the hands off all knobs, and held ones are reverted") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  propose("burst", {intent("30000 100000")});
  REQUIRE(governor.override_mode("node", Mode::off, 1h));
  CHECK(value() == kBefore);
  CHECK(last_reported("suppress") == Outcome::hands_off);
  CHECK(last_reported("burst") == Outcome::hands_off);
  REQUIRE(governor.end_override("node"));
  CHECK(value() == "20000 100000");
}

TEST_CASE_FIXTURE(RuledGovernor, "a pod with hands-off gets its original values again, and no others") {
  enforce("suppress");
  mark({});
  propose("suppress", {intent("20000 100000")});
  REQUIRE(value() == "20000 100000");
  mark({.all = true});
  CHECK(value() == kBefore);
  CHECK(last_reported("suppress") == Outcome::hands_off);
  propose("suppress", {intent("30000 100000")});
  CHECK(value() == kBefore);
  mark({});
  CHECK(value() == "30000 100000");
}

TEST_CASE_FIXTURE(RuledGovernor, "hands off one strategy or one knob leaves the others theirs") {
  enforce("suppress");
  enforce("mild");
  mark({.names = {"suppress"}});
  propose("suppress", {intent("20000 100000")});
  propose("mild", {intent("40000 100000")});
  CHECK(value() == "40000 100000");
  CHECK(last_reported("suppress") == Outcome::hands_off);
  mark({.names = {"memory.high"}});
  CHECK(value() == "20000 100000");
  mark({.names = {"cpu.max"}});
  CHECK(value() == kBefore);
}

TEST_CASE_FIXTURE(RuledGovernor, "a strategy in shadow gets hands off as a result, too") {
  mark({.all = true});
  propose("suppress", {intent("20000 100000")});
  CHECK(last_reported("suppress") == Outcome::hands_off);
  CHECK(last().outcome == Outcome::hands_off);
}

TEST_CASE_FIXTURE(RuledGovernor, "a strategy that was switched off while it held a knob is reported, with the pod") {
  enforce("suppress");
  mark({});
  propose("suppress", {intent("20000 100000")});
  propose("suppress", {});
  CHECK(released.empty());  // it was the plugin's own intent
  propose("suppress", {intent("20000 100000")});
  governor.set_mode("suppress", Mode::shadow);
  REQUIRE(released.size() == 1);
  CHECK(released[0].plugin == "suppress");
  CHECK(released[0].knob == "cpu.max");
  CHECK(released[0].subject.pod_name == "nightly");
  CHECK(released[0].why == "'suppress' is in shadow now");
  const Decision reverted = governor.decisions().at(governor.decisions().size() - 2);
  CHECK(reverted.outcome == Outcome::reverted);
  CHECK(reverted.reason == "'suppress' is in shadow now");
  CHECK(reverted.plugin == "suppress");
}
