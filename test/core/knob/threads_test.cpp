// SPDX-License-Identifier: Apache-2.0
// Strategies propose, operators override and readers query at the same time, with the journal and decisions on disk.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"
#include "core/knob/journal.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/made_intent.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace std::chrono_literals;

namespace {

constexpr const char* kBefore = "50000 100000";
constexpr int kCgroups = 4, kRounds = 40;

std::string dir_of(int cgroup) { return "kube/pod" + std::to_string(cgroup); }

Intent quota(int cgroup, int round, std::int32_t priority) {
  Intent intent = test::made_intent("cpu.max", std::to_string(20000 + 1000 * (round % 8)) + " 100000");
  intent.level = Level::pod;
  intent.cgroup_dir = dir_of(cgroup);
  intent.reason = "the node is busy";
  intent.priority = priority;
  intent.ttl = 1min;
  return intent;
}

// A node with pods that have quotas, and the threads that write them.
struct Node {
  Node() {
    for (int i = 0; i < kCgroups; ++i) tree.write("cgroup/" + dir_of(i) + "/cpu.max", std::string(kBefore) + "\n");
    governor.keep_decisions({tree.path("qos/decisions.db"), 1u << 20, 10ms, 10ms});
    governor.on_release([this](const std::vector<Release>& releases) { released += releases.size(); });
    REQUIRE(journal.open());
  }

  void propose(const std::string& plugin, std::int32_t priority, int round) {
    Plan plan;
    for (int i = 0; i < kCgroups; ++i) plan.push_back(quota(i, round, priority));
    governor.take({plugin, "main"}, std::move(plan),
                  [this](const std::vector<IntentResult>& results) { reported += results.size(); });
  }
  // Sets and removes a pod's annotation.
  void change_pods(int round) {
    Subjects subjects;
    for (int i = 0; i < kCgroups; ++i)
      subjects.add(dir_of(i), {"u" + std::to_string(i), "shop", "web", "",
                               parse_hands_off(round % 2 == i % 2 ? "true" : "false")});
    governor.set_subjects(std::make_shared<const Subjects>(std::move(subjects)));
  }
  void switch_modes(int round) {
    governor.set_mode("mild", round % 3 == 0 ? std::optional(Mode::shadow) : std::nullopt);
    governor.set_node_mode(round % 5 == 0 ? Mode::shadow : Mode::enforce);
    (void)governor.override_mode("strict", round % 2 == 0 ? Mode::enforce : Mode::off, 1h);
    if (round % 7 == 0) governor.restore();
    (void)governor.end_override(kNodeTarget);
    (void)governor.end_override("strict");
  }
  void poll() {
    (void)governor.knobs();
    (void)governor.active_intents_by_result();
    (void)governor.held();
    (void)governor.mode_view("strict");
    (void)governor.log().find({.knob = "cpu.max"});
    (void)governor.log().archive();
    (void)journal.problem();
    (void)journal.size();
    journal.tidy();
  }
  std::vector<std::string> values() const {
    std::vector<std::string> all;
    for (int i = 0; i < kCgroups; ++i)
      all.emplace_back(trim(*read_file(tree.path("cgroup/" + dir_of(i) + "/cpu.max"))));
    return all;
  }

  test::FakeNode tree{{"cgroup/cgroup.controllers", "cpu\n"}};
  ManualClock clock;
  Journal journal{{tree.path("qos"), "this boot"}, clock};
  std::atomic<std::size_t> reported = 0, released = 0;
  Governor governor{clock, *cgroup::Layout::detect(tree.roots()), tree.roots(), journal};
};

template <class Act>
std::thread rounds(Act act) {
  return std::thread([act] {
    for (int round = 0; round < kRounds; ++round) act(round);
  });
}

}  // namespace

TEST_CASE_FIXTURE(Node,
                  "after simultaneous changes by strategies, operators and pods, each knob has its original value") {
  std::atomic<bool> done = false;
  std::thread onlooker([&] {
    while (!done) poll();
  });
  std::vector<std::thread> others;
  others.push_back(rounds([this](int round) { propose("mild", 0, round); }));
  others.push_back(rounds([this](int round) { propose("strict", 7, round); }));
  others.push_back(rounds([this](int round) { change_pods(round); }));
  others.push_back(rounds([this](int round) { switch_modes(round); }));
  others.push_back(rounds([this](int) {
    clock.advance(1s);
    governor.expire();
  }));
  for (std::thread& other : others) other.join();
  governor.set_subjects(std::make_shared<const Subjects>());
  governor.set_node_mode(Mode::enforce);
  propose("strict", 7, 3);
  CHECK(values() == std::vector<std::string>(kCgroups, "23000 100000"));
  CHECK(journal.size() == kCgroups);
  done = true;
  onlooker.join();

  governor.stop();
  CHECK(values() == std::vector<std::string>(kCgroups, kBefore));
  CHECK(journal.size() == 0);
  CHECK(reported >= kCgroups * 2u);
}

TEST_CASE_FIXTURE(Node, "decisions made while the file is read and written are in it once, in order") {
  DecisionLog log;
  log.keep_in({tree.path("qos/others.db"), 4u << 20, 1ms, 1ms}, clock);
  std::vector<std::thread> others;
  for (const char* plugin : {"mild", "strict"})
    others.push_back(rounds([&log, plugin](int) { log.add({.plugin = plugin, .knob = "cpu.max"}); }));
  others.push_back(rounds([&log](int) { log.flush(); }));
  others.push_back(rounds([&log](int) { (void)log.find({.limit = 5}); }));
  for (std::thread& other : others) other.join();

  const DecisionPage page = log.find({});
  REQUIRE(log.archive()->problem.empty());
  REQUIRE(page.decisions.size() == 2 * kRounds);
  for (std::size_t i = 0; i < page.decisions.size(); ++i) CHECK(page.decisions[i].number == i + 1);
  CHECK(log.archive()->dropped == 0);
}
