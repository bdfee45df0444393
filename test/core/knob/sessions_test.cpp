// SPDX-License-Identifier: Apache-2.0
// Tests the property of composed values. If the agent is killed, reloaded or stopped with onExit: keep any number of
// times, then with constant inputs the value converges to the value of one undisturbed session. At every moment it is
// between base and base × ceiling. After the strategy is off, the files have their original values.
#include <doctest/doctest.h>

#include <random>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"
#include "core/knob/journal.hpp"
#include "core/knob/knob_files.hpp"
#include "test/support/fake_node.hpp"
#include "test/support/made_intent.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace std::chrono_literals;

namespace {

constexpr double kCeiling = 3;
constexpr std::int64_t kBaseA = 10'000, kBaseB = 50'000;

struct Node {
  test::FakeNode node{{"cgroup/cgroup.controllers", "cpu\n"},
                      {"cgroup/be/cpu.max", "max 100000\n"},
                      {"cgroup/be/pod/cpu.max", "60000 100000\n"},
                      {"cgroup/be/pod/a/cpu.max", "10000 100000\n"},
                      {"cgroup/be/pod/b/cpu.max", "50000 100000\n"}};
  ManualClock clock;
  std::unique_ptr<Journal> journal;
  std::unique_ptr<Governor> governor;
  int step = 0;  // the strategy's step, which restarts in each session

  Node() { begin(); }

  std::int64_t quota(const std::string& dir) const {
    const std::string text = *read_file(node.path("cgroup/" + dir + "/cpu.max"));
    std::string_view rest = text;
    return parse_int(*next_word(rest)).value_or(-1);
  }
  void begin() {
    governor.reset();
    journal.reset();
    journal = std::make_unique<Journal>(Journal::Options{node.path("qos"), "boot"}, clock);
    const Result<Journal::Found> found = journal->open();
    REQUIRE(found);
    governor = std::make_unique<Governor>(clock, *cgroup::Layout::detect(node.roots()), node.roots(), *journal);
    governor->set_node_mode(Mode::enforce);
    governor->adopt(found->left, 30s, found->on_purpose);
    Subjects subjects;
    subjects.add("be/pod/a", {"u", "shop", "web", "a", {}, false, {kBaseA / 100, {}}});
    subjects.add("be/pod/b", {"u", "shop", "web", "b", {}, false, {kBaseB / 100, {}}});
    subjects.add("be/pod",
                 {"u", "shop", "web", {}, {}, false, {(kBaseA + kBaseB) / 100, {}}, {"be/pod/a", "be/pod/b"}});
    governor->set_subjects(std::make_shared<const Subjects>(std::move(subjects)));
    step = 0;
  }
  void leave() {
    governor->leave();
    journal->flush();
    journal->leave();
    begin();
  }
  static Intent scale(const std::string& dir, double factor) {
    Intent intent = test::made_intent("cpu.max", std::to_string(factor), Role::scale);
    intent.level = Level::container;
    intent.cgroup_dir = dir;
    intent.reason = "it is throttled";
    intent.ttl = 1min;
    return intent;
  }
  // Raises its scale a little in each round, as qos-cpu-burst does while a container is throttled.
  void evaluate() {
    const double factor = std::min(1 + 0.4 * step++, kCeiling);
    governor->take({"burst", "main"}, {scale("be/pod/a", factor), scale("be/pod/b", 1 + (factor - 1) / 2)},
                   [](auto) {});
  }
  void second() {
    clock.advance(1s);
    governor->expire();
  }
  bool is_within() const {
    const std::int64_t a = quota("be/pod/a"), b = quota("be/pod/b"), pod = quota("be/pod");
    return a >= kBaseA && a <= kBaseA * kCeiling && b >= kBaseB && b <= kBaseB * kCeiling && pod >= a + b &&
           pod <= (kBaseA + kBaseB) * kCeiling;
  }
  std::string all() const {
    return std::to_string(quota("be/pod")) + " " + std::to_string(quota("be/pod/a")) + " " +
           std::to_string(quota("be/pod/b"));
  }
};

std::string undisturbed() {
  Node node;
  for (int i = 0; i < 10; ++i) node.evaluate(), node.second();
  return node.all();
}

}  // namespace

TEST_CASE("random sessions end at the value of one undisturbed session, and stay between base and ceiling") {
  const std::string expected = undisturbed();
  CHECK(expected == "130000 30000 100000");
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    Node node;
    for (int i = 0; i < 30; ++i) {
      switch (random() % 8) {
        case 0:
          node.begin();  // SIGKILL
          break;
        case 1:
          node.leave();  // onExit: keep
          break;
        case 2:
          node.governor->withdraw({"burst", "main"});  // its plugin is reloaded
          node.step = 0;
          break;
        case 3:
          node.governor->set_limits({});  // SIGHUP with an unrelated change
          break;
        case 4:
          for (int s = 0; s < 40; ++s) node.second();
          break;
        default:
          node.evaluate();
          node.second();
      }
      CAPTURE(i);
      REQUIRE_MESSAGE(node.is_within(), node.all());
    }
    for (int i = 0; i < 10; ++i) node.evaluate(), node.second();
    CHECK(node.all() == expected);
    node.governor->set_node_mode(Mode::off);
    CHECK(node.all() == "60000 10000 50000");
  }
}

TEST_CASE_FIXTURE(Node, "limit 100m, killed repeatedly: the quota stays 30000, and does not become 90000 or 108000") {
  for (int i = 0; i < 20; ++i) {
    for (int s = 0; s < 6; ++s) evaluate(), second();
    CHECK(quota("be/pod/a") == 30'000);
    begin();
  }
}

TEST_CASE_FIXTURE(Node, "values that another agent has left above the ceiling come down to the limits") {
  node.write("cgroup/be/pod/a/cpu.max", "90000 100000\n");
  node.write("cgroup/be/pod/cpu.max", "140000 100000\n");
  evaluate();
  CHECK(all() == "60000 10000 50000");
  for (int i = 0; i < 10; ++i) evaluate(), second();
  CHECK(all() == "130000 30000 100000");
  leave();                                 // onExit: keep
  for (int s = 0; s < 100; ++s) second();  // the strategy is off in the next session
  CHECK(all() == "60000 10000 50000");
}
