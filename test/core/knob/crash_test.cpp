// SPDX-License-Identifier: Apache-2.0
// Fault 1 on this machine's kernel: SIGKILL at random times during enforcement. After each next start every knob has
// its original value, or the value of a new intent. Needs root. `--moments=1000` sets the number of kills (default
// 100); `--seed=7` repeats a run.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <random>
#include <string_view>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/knob/governor.hpp"
#include "core/knob/journal.hpp"
#include "core/knob/journal_file.hpp"
#include "test/core/store/temporary_directory.hpp"
#include "test/support/child_process.hpp"
#include "test/support/made_intent.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

unsigned moments = 100, seed = 1;

constexpr Duration kPatience = 30s;
const Proposer kStrategy{"suppress", "main"};

// The part of an agent that writes knobs.
struct Enforcer {
  cgroup::Layout layout = *cgroup::Layout::detect(NodeRoots());
  ManualClock clock;
  Journal journal;
  Governor governor{clock, layout, NodeRoots(), journal};

  explicit Enforcer(const std::string& directory) : journal({directory, boot_id(NodeRoots())}, clock) {
    governor.set_node_mode(Mode::enforce);
  }

  // Returns false if the journal cannot be read.
  bool start() {
    const Result<Journal::Found> found = journal.open();
    if (!found || !found->warnings.empty()) return false;
    return governor.adopt(found->left, kPatience, false).empty();
  }
  void propose(Plan plan) {
    governor.take(kStrategy, std::move(plan), [](std::vector<IntentResult>) {});
  }
};

struct Node {
  TemporaryDirectory place;
  const std::string directory = place / "qos";
  RealCgroup pod{"crash"}, app{pod, "app"}, other{pod, "other"};
  const std::vector<std::pair<const RealCgroup*, std::string_view>> knobs{
      {&pod, "cpu.max"},   {&pod, "cpu.shares"},   {&pod, "memory.max"},   {&pod, "cpuset.cpus"},
      {&app, "cpu.max"},   {&app, "memory.max"},   {&app, "cpuset.cpus"},  {&app, "cpu.shares"},
      {&other, "cpu.max"}, {&other, "cpu.shares"}, {&other, "cpuset.cpus"}};
  const std::vector<Texts> before = texts();

  std::vector<Texts> texts() const {
    const KnobFiles files(*cgroup::Layout::detect(NodeRoots()), NodeRoots());
    std::vector<Texts> all;
    for (const auto& [cgroup, knob] : knobs) {
      const Result<KnobFiles::Reading> now = files.read({*find_knob(knob), cgroup->dir()});
      all.push_back(now ? now->texts : Texts{now.error().message()});
    }
    return all;
  }
  // Returns the differences from the original values as text.
  std::string changed() const {
    const std::vector<Texts> now = texts();
    std::string text;
    for (std::size_t i = 0; i < knobs.size(); ++i)
      if (now[i] != before[i])
        text += knobs[i].first->dir() + " " + std::string(knobs[i].second) + ": '" + join(now[i], ", ") + "' ";
    return text;
  }
  static std::string value(std::string_view knob, unsigned round) {
    const unsigned step = round % 7;
    if (knob == "cpu.max") return std::to_string(20'000 + step * 10'000) + (round % 2 ? " 100000" : " 50000");
    if (knob == "memory.max") return std::to_string((16 + step) << 20);
    if (knob == "cpuset.cpus") return round % 2 ? "0" : "1";
    return std::to_string(100 + step * 100);
  }
  // Returns a different plan each round, with wider and narrower values, and more and fewer cgroups.
  Plan plan(unsigned round) const {
    Plan plan;
    for (const auto& [cgroup, knob] : knobs) {
      if (cgroup == &other && knob != "cpuset.cpus" && round % 3 == 0)
        continue;  // the pod's cpuset must contain the cpusets of its containers
      Intent intent = test::made_intent(knob, value(knob, round));
      intent.level = cgroup == &pod ? Level::pod : Level::container;
      intent.cgroup_dir = cgroup->dir();
      intent.reason = "the node is busy";
      intent.ttl = 1h;
      plan.push_back(std::move(intent));
    }
    return plan;
  }
  // Returns the differences from the intents of this round as text.
  std::string not_as_proposed(unsigned round) const {
    const KnobFiles files(*cgroup::Layout::detect(NodeRoots()), NodeRoots());
    std::string text;
    for (const auto& [cgroup, name] : knobs) {
      const Knob& knob = *find_knob(name);
      const Result<KnobFiles::Reading> now = files.read({knob, cgroup->dir()});
      const Value wanted = *files.settled(knob, *parse_value(knob, value(name, round)));
      if (!now || !same(knob, now->value, wanted))
        text += cgroup->dir() + " " + std::string(name) + ": '" +
                (now ? spell(knob, now->value) : now.error().message()) + "' ";
    }
    return text;
  }
  // Returns the time from the start of a session to its first write. It is the shortest of three measured times,
  // because one long time on a busy machine would delay all kills of the run.
  std::chrono::microseconds until_first_write() const {
    return std::min({measure_first_write(), measure_first_write(), measure_first_write()});
  }
  std::chrono::microseconds measure_first_write() const {
    const auto begin = std::chrono::steady_clock::now();
    ChildProcess child([this] { enforce(0); });
    REQUIRE(eventually([this] { return !changed().empty(); }));
    const auto taken = std::chrono::steady_clock::now() - begin;
    child.signal(SIGKILL);
    REQUIRE(child.wait(30s));
    Enforcer next(directory);
    REQUIRE(next.start());
    next.governor.stop();
    return std::chrono::duration_cast<std::chrono::microseconds>(taken);
  }
  // Adopts the journal's originals and enforces until it is killed.
  [[noreturn]] void enforce(unsigned round) const {
    Enforcer enforcer(directory);
    if (!enforcer.start()) ::_exit(1);
    for (;; ++round) {
      enforcer.propose(plan(round));
      if (round % 5 == 0) enforcer.clock.advance(kPatience);
      enforcer.governor.expire();
      if (round % 11 == 0) enforcer.propose({});
    }
  }
};

bool was_killed(ChildProcess& child) {
  child.signal(SIGKILL);
  const std::optional<int> status = child.wait(30s);
  return status && WIFSIGNALED(*status);
}

}  // namespace

TEST_CASE_FIXTURE(Node,
                  "after SIGKILL at any moment the next start reverts every knob, or a strategy proposes it again") {
  std::mt19937 random(seed);
  const auto longest = static_cast<unsigned>(std::max<std::int64_t>(40'000, 3 * until_first_write().count()));
  std::printf("a session is killed within its first %u ms\n", longest / 1000);
  std::fflush(stdout);
  REQUIRE(changed() == "");
  unsigned left = 0;
  for (unsigned moment = 0; moment < moments; ++moment) {
    CAPTURE(moment);
    CAPTURE(seed);
    ChildProcess child([&] { enforce(moment); });
    ::usleep(random() % longest);  // the time of the fault; the test does not wait for anything here
    REQUIRE(was_killed(child));
    if (moment % 3 == 2) continue;  // the next session continues with this state, and may be killed, too
    Enforcer next(directory);
    REQUIRE(next.start());
    left += next.governor.adopted() > 0;
    const bool is_proposed = moment % 2 == 0;
    if (is_proposed) next.propose(plan(1));
    next.clock.advance(kPatience);
    next.governor.expire();
    REQUIRE((is_proposed ? not_as_proposed(1) : changed()) == "");
    next.governor.stop();
    REQUIRE(changed() == "");
    REQUIRE(next.journal.size() == 0);
  }
  CHECK(left > 0);  // otherwise every kill came too early, and the test proved nothing
}

TEST_CASE_FIXTURE(Node, "a value that another process has written after the crash stays") {
  ChildProcess child([&] {
    Enforcer enforcer(directory);
    enforcer.start();
    enforcer.propose(plan(1));
    for (;;) ::pause();
  });
  REQUIRE(eventually([&] { return texts()[1] != before[1]; }));
  REQUIRE(was_killed(child));
  const std::string shares = pod.path(cgroup::Controller::cpu) + "/cpu.shares";
  const bool is_v1 = read_file(shares).has_value();
  REQUIRE(write_value(is_v1 ? shares : pod.path(cgroup::Controller::cpu) + "/cpu.weight", "777"));
  Enforcer next(directory);
  REQUIRE(next.start());
  const std::vector<Undone> undone = next.governor.stop();
  std::size_t others = 0;
  for (const Undone& one : undone) others += one.done.outcome == Outcome::left;
  CHECK(others == 1);
  CHECK(texts()[1] == Texts{"777"});
  REQUIRE(write_value(is_v1 ? shares : pod.path(cgroup::Controller::cpu) + "/cpu.weight", before[1][0]));
  CHECK(changed() == "");
}

TEST_CASE_FIXTURE(Node, "a cgroup that was recreated after the crash is not given an old one's values") {
  auto again = std::make_unique<RealCgroup>(pod, "again");
  const std::string dir = again->dir();
  const auto proposed = [&] {
    Intent intent = test::made_intent("cpu.max", "20000 100000");
    intent.level = Level::container;
    intent.cgroup_dir = dir;
    intent.reason = "the node is busy";
    intent.ttl = 1h;
    return Plan{intent};
  };
  ChildProcess child([&] {
    Enforcer enforcer(directory);
    enforcer.start();
    enforcer.propose(proposed());
    for (;;) ::pause();
  });
  const KnobFiles files(*cgroup::Layout::detect(NodeRoots()), NodeRoots());
  REQUIRE(eventually([&] { return read_knob(files, "cpu.max", dir).value_or("") == "20000 100000"; }));
  REQUIRE(was_killed(child));
  again.reset();
  again = std::make_unique<RealCgroup>(pod, "again");
  again->limit_cpu(0.2);  // has by chance the same value
  Enforcer next(directory);
  REQUIRE(next.start());
  const std::vector<Undone> undone = next.governor.stop();
  REQUIRE(undone.size() == 1);
  CHECK(undone[0].done.outcome == Outcome::gone);
  CHECK(read_knob(files, "cpu.max", dir).value_or("") == "20000 100000");
}

int main(int argc, char** argv) {
  if (auto why = RealCgroup::unavailable()) {
    std::printf("skipped: no cgroups can be made here: %s\n", why->c_str());
    return kSkip;
  }
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--moments="))
      moments = static_cast<unsigned>(parse_uint(argument.substr(10)).value_or(moments));
    if (argument.starts_with("--seed=")) seed = static_cast<unsigned>(parse_uint(argument.substr(7)).value_or(seed));
  }
  return doctest::Context(argc, argv).run();
}
