// SPDX-License-Identifier: Apache-2.0
// The knobs that the governor shows, and their records: value, original, holder, failed reverts.
#include <doctest/doctest.h>

#include "test/core/knob/fake_governor.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace koord::test;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(RuledGovernor, "a record names the owner of the cgroup") {
  mark({});
  propose("suppress", {intent("20000 100000")});
  CHECK(last().pod_uid == "u-1");
  CHECK(last().pod_namespace + "/" + last().pod_name == "shop/nightly");
}

TEST_CASE_FIXTURE(RuledGovernor,
                  "a knob's holder is the plugin with the winning intent, even if the knob had that value already") {
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

TEST_CASE_FIXTURE(RuledGovernor,
                  "a knob that an earlier agent changed is recorded with its plugin when it is reverted") {
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

TEST_CASE_FIXTURE(RuledGovernor, "a knob is shown with its value, the original, its holder and the losers") {
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
  CHECK(knobs[0].intents[0].decision.plugin == "strict");
  CHECK(knobs[0].intents[0].decision.outcome == Outcome::applied);
  CHECK(knobs[0].intents[1].decision.plugin == "mild");
  CHECK(knobs[0].intents[1].decision.outcome == Outcome::lost);
  CHECK(knobs[0].intents[1].decision.winner == "strict");
  CHECK(knobs[0].intents[2].decision.outcome == Outcome::shadow);
  CHECK(knobs[0].intents[2].until == clock.now() + 1min);
  CHECK(governor.active_intents_by_result() ==
        std::map<Outcome, std::size_t>{{Outcome::applied, 1}, {Outcome::shadow, 1}, {Outcome::lost, 1}});
}

TEST_CASE_FIXTURE(FakeGovernor, "a knob that cannot be read says why") {
  propose("suppress", {intent("20000 100000", 0, "nowhere")});
  REQUIRE(governor.knobs().size() == 1);
  CHECK(governor.knobs()[0].value.empty());
  CHECK(governor.knobs()[0].problem.find("nowhere") != std::string::npos);
}

namespace {

// The kernel refuses every write to this file, even from root.
constexpr const char* kReadOnly = "/proc/sys/kernel/ngroups_max";

// A knob of the node, set by 'system', with a value that cannot be reverted.
struct RefusedRevert : FakeGovernor {
  const std::string file = "proc/sys/vm/min_free_kbytes", written = std::string(trim(*read_file(kReadOnly)));
  std::vector<Undone> failed;

  RefusedRevert() {
    governor.on_failed_revert([this](const Undone& undone) { failed.push_back(undone); });
    node.write(file, "1000\n");
    enforce("system");
    propose("system", {minute_intent(Level::node, "vm.min_free_kbytes", "", written, 0)});
    REQUIRE(trim(*read_file(node.path(file))) == written);
    node.remove(file);
    node.link(file, kReadOnly);
  }
  void allow() {
    node.remove(file);
    node.write(file, written + "\n");
  }
};

}  // namespace

TEST_CASE_FIXTURE(RefusedRevert,
                  "a revert that the kernel refuses is reported at once and once, with file, value, error and plugin") {
  SUBCASE("the strategy proposes it no more") { propose("system", {}); }
  SUBCASE("the strategy ends, as at gate off or reload") { governor.withdraw({"system", "main"}); }
  SUBCASE("the mode ends enforcement") { governor.set_mode("system", Mode::shadow); }
  SUBCASE("the agent ends") { governor.stop(); }
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].knob->name == "vm.min_free_kbytes");
  CHECK(failed[0].plugin == "system");
  CHECK(failed[0].original == "1000");
  CHECK(failed[0].done.after == written);
  CHECK_MESSAGE(failed[0].done.problem.find("'" + node.path(file) + "': ") != std::string::npos,
                failed[0].done.problem);
  governor.expire();
  governor.expire();
  CHECK(failed.size() == 1);
  CHECK(governor.held() == 1);
}

TEST_CASE_FIXTURE(RefusedRevert,
                  "a knob with a failed revert is shown with the error until it is reverted, or proposed again") {
  CHECK(governor.knobs().at(0).revert_problem == "");
  propose("system", {});
  REQUIRE(governor.knobs().size() == 1);
  CHECK(governor.knobs()[0].original == "1000");
  CHECK(governor.knobs()[0].holder == "system");
  CHECK(governor.knobs()[0].revert_problem == failed.at(0).done.problem);
  SUBCASE("it is reverted") {
    allow();
    governor.expire();
    CHECK(trim(*read_file(node.path(file))) == "1000");
    CHECK(governor.knobs().empty());
  }
  SUBCASE("it is proposed again") {
    propose("system", {minute_intent(Level::node, "vm.min_free_kbytes", "", written, 0)});
    CHECK(governor.knobs().at(0).revert_problem == "");
  }
}
