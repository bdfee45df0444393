// SPDX-License-Identifier: Apache-2.0
#include "core/knob/governor.hpp"

#include <doctest/doctest.h>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::knob;
using namespace std::chrono_literals;

namespace {

constexpr const char* kBefore = "50000 100000";

struct Court {
  test::FakeNode node{{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/be/cpu.max", "50000 100000\n"}};
  ManualClock clock;
  MemoryOriginals originals;
  Governor governor{clock, *cgroup::Layout::detect(node.roots()), node.roots(), originals};
  std::map<std::string, std::vector<IntentResult>> told;  // by plugin, all of it

  std::string value() const { return std::string(trim(*read_file(node.path("cgroup/be/cpu.max")))); }

  static Intent intent(std::string value, std::int32_t priority = 0, std::string dir = "be") {
    Intent made;
    made.level = Level::qos;
    made.knob = "cpu.max";
    made.cgroup_dir = std::move(dir);
    made.value = std::move(value);
    made.reason = "the node is busy";
    made.inputs = {{"node_cpu_usage", "7.3"}};
    made.priority = priority;
    made.ttl = 1min;
    return made;
  }
  void propose(const std::string& plugin, Plan plan) {
    governor.take({plugin, "main"}, std::move(plan), [this, plugin](std::vector<IntentResult> results) {
      auto& list = told[plugin];
      list.insert(list.end(), results.begin(), results.end());
    });
  }
  void enforce(const std::string& plugin) { governor.set_mode(plugin, Mode::enforce); }
  Outcome last_told(const std::string& plugin) { return told.at(plugin).back().outcome; }
  Decision last() { return governor.decisions().back(); }
};

}  // namespace

TEST_CASE_FIXTURE(Court, "the end of one life of a strategy takes nothing from its next one") {
  const Proposer old{"suppress", "main", 1}, fresh{"suppress", "main", 2};
  const Tell nobody = [](std::vector<IntentResult>) {};
  enforce("suppress");
  governor.take(old, {intent("20000 100000")}, nobody);
  governor.take(fresh, {intent("30000 100000")}, nobody);
  governor.withdraw(old);
  CHECK(governor.active_intents() == 1);
  CHECK(value() == "30000 100000");
  governor.withdraw(fresh);
  CHECK(value() == kBefore);
}

TEST_CASE_FIXTURE(Court, "without a word about it a strategy is in shadow: all is told and nothing written") {
  propose("suppress", {intent("20000 100000")});
  CHECK(value() == kBefore);
  CHECK(last_told("suppress") == Outcome::shadow);
  CHECK(told["suppress"][0].final_value == kBefore);
  CHECK(last().outcome == Outcome::shadow);
  CHECK(last().before == kBefore);
  CHECK(last().wanted == "20000 100000");
  CHECK(last().reason == "the node is busy");
  CHECK(last().inputs == decltype(Decision::inputs){{"node_cpu_usage", "7.3"}});
}

TEST_CASE_FIXTURE(Court, "a strategy that may writes, and its withdrawal gives the original back") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  CHECK(value() == "20000 100000");
  CHECK(last_told("suppress") == Outcome::applied);
  governor.withdraw({"suppress", "main"});
  CHECK(value() == kBefore);
  CHECK(last().outcome == Outcome::reverted);
}

TEST_CASE_FIXTURE(Court, "a plan replaces the plan before") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  propose("suppress", {});
  CHECK(value() == kBefore);
}

TEST_CASE_FIXTURE(Court, "two strategies of one plugin have a plan each") {
  enforce("suppress");
  governor.take({"suppress", "one"}, {intent("20000 100000")}, [](auto) {});
  governor.take({"suppress", "two"}, {}, [](auto) {});
  CHECK(value() == "20000 100000");
}

TEST_CASE_FIXTURE(Court, "a wish ends with its ttl unless it is proposed again") {
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
  CHECK(last_told("suppress") == Outcome::expired);
  CHECK(governor.active_intents() == 0);
}

TEST_CASE_FIXTURE(Court, "of two strategies one value holds, and the loser is told by whom") {
  enforce("mild");
  enforce("strict");
  propose("mild", {intent("40000 100000")});
  CHECK(last_told("mild") == Outcome::applied);
  propose("strict", {intent("20000 100000")});
  CHECK(value() == "20000 100000");
  CHECK(last_told("mild") == Outcome::lost);
  CHECK(told["mild"].back().winner == "strict");
  CHECK(told["mild"].back().final_value == "20000 100000");
  governor.withdraw({"strict", "main"});
  CHECK(value() == "40000 100000");
  CHECK(last_told("mild") == Outcome::applied);
}

TEST_CASE_FIXTURE(Court, "who wishes the winner's value has it, too") {
  enforce("a");
  enforce("b");
  propose("a", {intent("20000 100000")});
  propose("b", {intent("20000 100000")});
  CHECK(last_told("b") == Outcome::applied);
  CHECK(told["b"].back().winner == "a");
}

TEST_CASE_FIXTURE(Court, "a strategy in shadow takes nothing from one that writes") {
  enforce("mild");
  propose("mild", {intent("40000 100000")});
  propose("strict", {intent("20000 100000")});
  CHECK(value() == "40000 100000");
  CHECK(last_told("mild") == Outcome::applied);
  CHECK(last_told("strict") == Outcome::shadow);
  propose("strict", {intent("45000 100000")});
  CHECK(last_told("strict") == Outcome::lost);
  CHECK(told["strict"].back().winner == "mild");
}

TEST_CASE_FIXTURE(Court, "switching a strategy off gives back what it has written") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  governor.set_mode("suppress", Mode::off);
  CHECK(value() == kBefore);
  CHECK(last_told("suppress") == Outcome::off);
}

TEST_CASE_FIXTURE(Court, "the same again is no news: neither for the log nor for the strategy's log") {
  propose("suppress", {intent("20000 100000")});
  const std::size_t records = governor.decisions().size();
  propose("suppress", {intent("20000 100000")});
  CHECK(governor.decisions().size() == records);
  CHECK(told["suppress"].size() == 2);  // what became of a plan is told each time
}

TEST_CASE_FIXTURE(Court, "a plan that is the one before again is not looked into before half of the refresh period is over") {
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

TEST_CASE_FIXTURE(Court, "a plan that is repeated holds on, and only what is news of it is told") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  clock.advance(40s);
  CHECK(governor.repeat({"suppress", "main"}));
  CHECK(told["suppress"].size() == 1);
  clock.advance(40s);
  governor.expire();
  CHECK(value() == "20000 100000");

  governor.set_mode("suppress", Mode::shadow);
  CHECK(governor.repeat({"suppress", "main"}));
  REQUIRE(told["suppress"].size() == 2);
  CHECK(told["suppress"].back().outcome == Outcome::shadow);
}

TEST_CASE_FIXTURE(Court, "a plan of which something has ended cannot be repeated, nor one that is not there") {
  CHECK_FALSE(governor.repeat({"suppress", "main"}));
  propose("suppress", {intent("20000 100000")});
  clock.advance(1min);
  governor.expire();
  CHECK_FALSE(governor.repeat({"suppress", "main"}));
}

TEST_CASE_FIXTURE(Court, "what is due is looked at although nobody proposes anything") {
  governor.set_limits({.refresh = 10s});
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  propose("watcher", {intent("30000 100000")});
  node.write("cgroup/be/cpu.max", "70000 100000\n");
  clock.advance(10s);
  governor.expire();
  CHECK(value() == "20000 100000");
  CHECK(told.at("watcher").back().final_value == "20000 100000");
}

TEST_CASE_FIXTURE(Court, "a wish that changes leaves the others of its plan as they are") {
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

TEST_CASE_FIXTURE(Court, "a burst follows its quota though it is wished by somebody else, and is not wished anew") {
  node.write("cgroup/be/cpu.max.burst", "0\n");
  enforce("burst");
  enforce("suppress");
  Intent burst = intent("40000");
  burst.knob = "cpu.max.burst";
  propose("burst", {burst});
  propose("suppress", {intent("30000 100000")});
  CHECK(trim(*read_file(node.path("cgroup/be/cpu.max.burst"))) == "30000");
  propose("suppress", {});
  CHECK(trim(*read_file(node.path("cgroup/be/cpu.max.burst"))) == "40000");
}

TEST_CASE_FIXTURE(Court, "a cgroup that is not there is said to be gone") {
  enforce("a");
  propose("a", {intent("20000 100000", 0, "nowhere")});
  propose("b", {intent("20000 100000", 0, "nowhere")});
  CHECK(last_told("a") == Outcome::gone);
  CHECK(last_told("b") == Outcome::gone);
}

TEST_CASE_FIXTURE(Court, "the end gives back everything") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  governor.stop();
  CHECK(value() == kBefore);
  CHECK(governor.held() == 0);
}

namespace {

struct Ruled : Court {
  std::vector<Release> released;

  Ruled() {
    governor.on_release([this](std::vector<Release> releases) { released.insert(released.end(), releases.begin(), releases.end()); });
  }
  void mark(HandsOff hands_off) {
    auto subjects = std::make_shared<Subjects>();
    subjects->add("be", {"u-1", "shop", "nightly", {}, std::move(hands_off)});
    governor.set_subjects(std::move(subjects));
  }
};

}  // namespace

TEST_CASE_FIXTURE(Ruled, "what an operator says of a strategy holds until its time is over, and is recorded at both ends") {
  propose("suppress", {intent("20000 100000")});
  REQUIRE(governor.override_mode("suppress", Mode::enforce, 30s, "operator uid 0"));
  CHECK(value() == "20000 100000");
  clock.advance(29s);
  governor.expire();
  CHECK(value() == "20000 100000");
  clock.advance(1s);
  governor.expire();
  CHECK(value() == kBefore);
  CHECK(last_told("suppress") == Outcome::shadow);
  std::vector<std::string> switches;
  for (const Decision& one : governor.decisions())
    if (one.outcome == Outcome::switched) switches.push_back(one.plugin + " from " + one.before + " to " + one.after + ": " + one.reason);
  CHECK(switches == std::vector<std::string>{"suppress from shadow to enforce: set by operator uid 0 for 30s",
                                             "suppress from enforce to shadow: the operator's setting has expired"});
}

TEST_CASE_FIXTURE(Ruled, "no quota takes time of CPUs that are a container's own") {
  auto subjects = std::make_shared<Subjects>();
  subjects->add("be", {"u-1", "shop", "nightly", "app", {}, true});
  governor.set_subjects(std::move(subjects));
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  CHECK(value() == kBefore);
  CHECK(last_told("suppress") == Outcome::failed);
  CHECK(governor.decisions().back().problem == "its CPUs are its own, and it would be throttled on them");
}

TEST_CASE_FIXTURE(Ruled, "switching the node off takes the hands off all knobs, and what was held is given back") {
  enforce("suppress");
  propose("suppress", {intent("20000 100000")});
  propose("burst", {intent("30000 100000")});
  REQUIRE(governor.override_mode("node", Mode::off, 1h));
  CHECK(value() == kBefore);
  CHECK(last_told("suppress") == Outcome::hands_off);
  CHECK(last_told("burst") == Outcome::hands_off);
  REQUIRE(governor.end_override("node"));
  CHECK(value() == "20000 100000");
}

TEST_CASE_FIXTURE(Ruled, "a pod that says hands off has its original values again, and gets no others") {
  enforce("suppress");
  mark({});
  propose("suppress", {intent("20000 100000")});
  REQUIRE(value() == "20000 100000");
  mark({.all = true});
  CHECK(value() == kBefore);
  CHECK(last_told("suppress") == Outcome::hands_off);
  propose("suppress", {intent("30000 100000")});
  CHECK(value() == kBefore);
  mark({});
  CHECK(value() == "30000 100000");
}

TEST_CASE_FIXTURE(Ruled, "hands off one strategy or one knob leaves the others theirs") {
  enforce("suppress");
  enforce("mild");
  mark({.names = {"suppress"}});
  propose("suppress", {intent("20000 100000")});
  propose("mild", {intent("40000 100000")});
  CHECK(value() == "40000 100000");
  CHECK(last_told("suppress") == Outcome::hands_off);
  mark({.names = {"memory.high"}});
  CHECK(value() == "20000 100000");
  mark({.names = {"cpu.max"}});
  CHECK(value() == kBefore);
}

TEST_CASE_FIXTURE(Ruled, "a strategy in shadow is told of hands off, too") {
  mark({.all = true});
  propose("suppress", {intent("20000 100000")});
  CHECK(last_told("suppress") == Outcome::hands_off);
  CHECK(last().outcome == Outcome::hands_off);
}

TEST_CASE_FIXTURE(Ruled, "a record says whose cgroup it was") {
  mark({});
  propose("suppress", {intent("20000 100000")});
  CHECK(last().pod_uid == "u-1");
  CHECK(last().pod_namespace + "/" + last().pod_name == "shop/nightly");
}

TEST_CASE_FIXTURE(Ruled, "who was switched off while it held a knob is told of, with the pod") {
  enforce("suppress");
  mark({});
  propose("suppress", {intent("20000 100000")});
  propose("suppress", {});
  CHECK(released.empty());  // that was its own wish
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

TEST_CASE_FIXTURE(Ruled, "a knob is his whose wish it has, also when he found it as he wishes it") {
  enforce("a");
  enforce("b");
  propose("a", {intent("20000 100000")});
  CHECK(governor.knobs().at(0).holder == "a");
  propose("b", {intent("20000 100000")});
  governor.withdraw({"a", "main"});
  CHECK(governor.knobs().at(0).holder == "b");
  governor.withdraw({"b", "main"});
  CHECK(last().outcome == Outcome::reverted);
  CHECK(last().plugin == "b");
}

TEST_CASE_FIXTURE(Ruled, "what an agent before had wished is recorded as that plugin's when it is given back") {
  enforce("a");
  propose("a", {intent("20000 100000")});
  governor.leave();
  Governor next{clock, *cgroup::Layout::detect(node.roots()), node.roots(), originals};
  next.adopt(originals.all(), 0s, false);
  next.expire();
  CHECK(value() == kBefore);
  CHECK(next.decisions().back().outcome == Outcome::reverted);
  CHECK(next.decisions().back().plugin == "a");
}

TEST_CASE_FIXTURE(Ruled, "a knob is shown with its value, the one before, its holder and who lost") {
  enforce("strict");
  enforce("mild");
  mark({});
  propose("mild", {intent("40000 100000", 1)});
  propose("strict", {intent("20000 100000", 5)});
  propose("watcher", {intent("10000 100000", 9)});
  const std::vector<KnobView> knobs = governor.knobs();
  REQUIRE(knobs.size() == 1);
  CHECK(knobs[0].value == "20000 100000");
  CHECK(knobs[0].original == kBefore);
  CHECK(knobs[0].holder == "strict");
  CHECK(knobs[0].subject.pod_name == "nightly");
  REQUIRE(knobs[0].intents.size() == 3);
  CHECK(knobs[0].intents[0].plugin == "strict");
  CHECK(knobs[0].intents[0].outcome == Outcome::applied);
  CHECK(knobs[0].intents[1].plugin == "mild");
  CHECK(knobs[0].intents[1].outcome == Outcome::lost);
  CHECK(knobs[0].intents[1].winner == "strict");
  CHECK(knobs[0].intents[2].outcome == Outcome::shadow);
  CHECK(knobs[0].intents[2].until == clock.now() + 1min);
  CHECK(governor.standing() == std::map<Outcome, std::size_t>{{Outcome::applied, 1}, {Outcome::shadow, 1}, {Outcome::lost, 1}});
}

TEST_CASE_FIXTURE(Court, "a knob that cannot be read says why") {
  propose("suppress", {intent("20000 100000", 0, "nowhere")});
  REQUIRE(governor.knobs().size() == 1);
  CHECK(governor.knobs()[0].value.empty());
  CHECK(governor.knobs()[0].problem.find("nowhere") != std::string::npos);
}

TEST_CASE_FIXTURE(Court, "an act is done once for each plan that has it, and in shadow not at all") {
  node.write("cgroup/cgroup.controllers", "cpu memory\n");
  node.write("cgroup/be/memory.reclaim", "");
  Governor with_memory{clock, *cgroup::Layout::detect(node.roots()), node.roots(), originals};
  auto reclaimed = [&] {
    const std::string text = *read_file(node.path("cgroup/be/memory.reclaim"));
    node.write("cgroup/be/memory.reclaim", "");
    return text;
  };
  Intent act = intent("4096");
  act.knob = "memory.reclaim";
  const Tell nobody = [](std::vector<IntentResult>) {};
  std::vector<Outcome> outcomes;
  with_memory.take({"reclaim", "main"}, {act}, nobody);
  CHECK(reclaimed() == "");
  with_memory.set_mode("reclaim", Mode::enforce);
  CHECK(reclaimed() == "4096");
  with_memory.take({"other", "main"}, {intent("20000 100000")}, nobody);
  CHECK(reclaimed() == "");
  with_memory.take({"reclaim", "main"}, {act}, [&](std::vector<IntentResult> results) {
    for (const IntentResult& result : results) outcomes.push_back(result.outcome);
  });
  CHECK(reclaimed() == "4096");
  CHECK(with_memory.repeat({"reclaim", "main"}));
  CHECK(reclaimed() == "4096");
  CHECK(outcomes == std::vector{Outcome::applied, Outcome::applied});  // told each time it was done
}
