// SPDX-License-Identifier: Apache-2.0
// Knobs of processes on this machine's kernel: oom_score_adj in cgroups of real containers. Many kernels lack core
// scheduling, so the test simulates these kernel calls for real processes. Needs root.
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "core/base/file.hpp"
#include "core/base/linux_capability.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/knob/core_scheduling.hpp"
#include "core/knob/executor.hpp"
#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"
#include "test/support/run_with_cgroups.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace std::chrono_literals;
using koord::test::ChildProcess;
using koord::test::RealCgroup;

namespace {

std::string score_file(pid_t pid) { return "/proc/" + std::to_string(pid) + "/oom_score_adj"; }
std::int64_t score_of(pid_t pid) { return *parse_int(trim(*read_file(score_file(pid)))); }
void set_score(pid_t pid, std::int64_t score) { REQUIRE(write_value(score_file(pid), std::to_string(score))); }

// Waits for the next tick, because the kernel counts process start times in ticks of 10 ms.
void wait_for_next_tick() {
  const auto tick = [] {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * 100 + now.tv_nsec / 10'000'000;
  };
  const auto before = tick();
  REQUIRE(koord::test::eventually([&] { return tick() != before; }));
}

// A simulated kernel with core scheduling: one cookie per thread, 0 for a new thread.
class ActedCoreScheduling final : public CoreSchedulingCalls {
 public:
  int get(std::int32_t thread, std::uint64_t& cookie) const override {
    std::lock_guard lock(mutex);
    if (absent != 0) return absent;
    if (thread != 0 && ::kill(thread, 0) != 0) return ESRCH;
    const auto found = cookies.find(thread == 0 ? ::gettid() : thread);
    cookie = found == cookies.end() ? 0 : found->second;
    return 0;
  }
  int create() const override {
    std::lock_guard lock(mutex);
    cookies[::gettid()] = next++;
    return absent;
  }
  int share_from(std::int32_t thread) const override {
    std::lock_guard lock(mutex);
    cookies[::gettid()] = cookies[thread];
    return ::kill(thread, 0) == 0 ? 0 : ESRCH;
  }
  int share_to(std::int32_t process) const override {
    std::lock_guard lock(mutex);
    if (::kill(process, 0) != 0) return ESRCH;
    cookies[process] = cookies[::gettid()];
    return 0;
  }
  std::uint64_t of(pid_t pid) const {
    std::lock_guard lock(mutex);
    return cookies[pid];
  }

  int absent = 0;  // the errno of a kernel without core scheduling
  mutable std::mutex mutex;
  mutable std::map<std::int32_t, std::uint64_t> cookies;  // guarded by `mutex`
  mutable std::uint64_t next = 0x1a2b;
};

struct Containers {
  std::shared_ptr<ActedCoreScheduling> acted = std::make_shared<ActedCoreScheduling>();
  MemoryOriginals originals;
  ManualClock clock;
  KnobFiles files{*cgroup::Layout::detect(NodeRoots()), NodeRoots(), acted};
  std::unique_ptr<Executor> executor = std::make_unique<Executor>(files, originals, clock);
  RealCgroup pod{"processes"};
  RealCgroup app{pod, "app"}, side{pod, "side"};
  std::deque<ChildProcess> processes;

  pid_t start(const RealCgroup& container) {
    processes.emplace_back([] {
      for (;;) ::pause();
    });
    container.add_process(processes.back().pid());
    return processes.back().pid();
  }
  static Order order(const RealCgroup& container, std::string_view knob, std::string_view value) {
    return {Level::container, container.dir(), find_knob(knob), *parse_value(*find_knob(knob), value), "hook-test"};
  }
  Done apply(const Order& order) { return executor->apply({order}).done.at(0); }
  Done undo() { return executor->apply({}).undone.at(0).done; }
  // Starts again, like after SIGKILL. Only the journal remains.
  void restart_after_kill() {
    files_again.push_back(std::make_unique<KnobFiles>(*cgroup::Layout::detect(NodeRoots()), NodeRoots(), acted));
    executor = std::make_unique<Executor>(*files_again.back(), originals, clock);
  }
  std::vector<std::unique_ptr<KnobFiles>> files_again;
};

}  // namespace

TEST_CASE_FIXTURE(Containers,
                  "each process of the container gets the score, no other does, and each gets its own back") {
  const pid_t first = start(app), second = start(app), outside = start(side);
  const std::int64_t before = score_of(first);
  set_score(second, before + 7);
  const Done done = apply(order(app, "oom_score_adj", std::to_string(before + 100)));
  CHECK_MESSAGE(done.outcome == Outcome::applied, done.problem);
  CHECK(done.before ==
        std::to_string(before) + ", process " + std::to_string(second) + ": " + std::to_string(before + 7));
  CHECK(done.after == std::to_string(before + 100));
  CHECK(score_of(first) == before + 100);
  CHECK(score_of(second) == before + 100);
  CHECK(score_of(outside) == before);
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(score_of(first) == before);
  CHECK(score_of(second) == before + 7);
  CHECK(executor->held() == 0);
}

TEST_CASE_FIXTURE(Containers, "a process that joins later gets the score at the next reading, and is no other writer") {
  const pid_t first = start(app);
  const std::int64_t before = score_of(first);
  const Order wanted = order(app, "oom_score_adj", std::to_string(before + 100));
  REQUIRE(apply(wanted).outcome == Outcome::applied);
  wait_for_next_tick();
  for (int round = 0; round < 5; ++round) {
    const pid_t later = start(app);
    REQUIRE(score_of(later) == before);
    clock.advance(1min);
    const Done done = apply(wanted);
    CHECK_MESSAGE(done.outcome == Outcome::applied, done.problem);
    CHECK(score_of(later) == before + 100);
    wait_for_next_tick();
  }
  CHECK(undo().outcome == Outcome::reverted);
  for (const ChildProcess& process : processes) CHECK(score_of(process.pid()) == before);
}

TEST_CASE_FIXTURE(Containers, "a process that changes its score again and again makes the container contested") {
  const pid_t first = start(app), second = start(app);
  const std::int64_t before = score_of(first);
  const Order wanted = order(app, "oom_score_adj", std::to_string(before + 100));
  REQUIRE(apply(wanted).outcome == Outcome::applied);
  for (int round = 0; round < 2; ++round) {
    set_score(second, before + 50);
    clock.advance(1min);
    CHECK(apply(wanted).outcome == Outcome::applied);
    CHECK(score_of(second) == before + 100);
  }
  set_score(second, before + 50);
  clock.advance(30s);
  const Done done = apply(wanted);
  CHECK(done.outcome == Outcome::contested);
  CHECK_MESSAGE(done.problem.find("another process keeps writing it, now '" + std::to_string(before + 100) +
                                  ", process " + std::to_string(second)) == 0,
                done.problem);
  CHECK(score_of(second) == before + 50);
  CHECK(undo().outcome == Outcome::left);
}

TEST_CASE_FIXTURE(Containers,
                  "after SIGKILL the journal restores each process' original, even if other processes joined since") {
  const pid_t first = start(app), second = start(app);
  const std::int64_t before = score_of(first);
  set_score(second, before + 7);
  REQUIRE(apply(order(app, "oom_score_adj", std::to_string(before + 100))).outcome == Outcome::applied);
  wait_for_next_tick();
  const pid_t later = start(app);
  set_score(later, before + 3);  // like a program that sets its own score at its start
  restart_after_kill();
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(score_of(first) == before);
  CHECK(score_of(second) == before + 7);
  CHECK(score_of(later) == before);
}

TEST_CASE_FIXTURE(Containers, "after SIGKILL in the middle of a write, written and unwritten processes are reverted") {
  const pid_t first = start(app), second = start(app);
  const std::int64_t before = score_of(first);
  const std::string wanted = std::to_string(before + 100);
  // The journal is in its state before the first write. After that one of two processes was written.
  const Order of_app = order(app, "oom_score_adj", wanted);
  const KnobTarget target{*of_app.knob, of_app.cgroup_dir};
  const KnobFiles::Reading now = *files.read(target);
  const std::vector<Original> kept{{.key = {app.dir(), "oom_score_adj", ""},
                                    .level = Level::container,
                                    .knob = "oom_score_adj",
                                    .cgroup = now.cgroup,
                                    .texts = now.texts,
                                    .written = now.texts,
                                    .asked = {{wanted}}}};
  REQUIRE(originals.keep(kept));
  set_score(first, before + 100);
  restart_after_kill();
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(score_of(first) == before);
  CHECK(score_of(second) == before);
}

TEST_CASE_FIXTURE(Containers, "a revert restores a score of a process's own also where the container's is the same") {
  const pid_t first = start(app), second = start(app);
  const std::int64_t before = score_of(first);
  set_score(second, before + 7);
  REQUIRE(apply(order(app, "oom_score_adj", std::to_string(before))).outcome == Outcome::applied);
  CHECK(score_of(second) == before);
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(score_of(second) == before + 7);
}

TEST_CASE_FIXTURE(Containers, "processes that ended do not hinder a revert, and a container without any has nothing") {
  const pid_t first = start(app);
  const std::int64_t before = score_of(first);
  {
    ChildProcess second([] {
      for (;;) ::pause();
    });
    app.add_process(second.pid());
    set_score(second.pid(), before + 7);
    REQUIRE(apply(order(app, "oom_score_adj", std::to_string(before + 100))).outcome == Outcome::applied);
  }
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(score_of(first) == before);
  const Done none = apply(order(side, "oom_score_adj", "5"));
  CHECK(none.outcome == Outcome::gone);
  CHECK(none.problem.find("has no process") != std::string::npos);
  CHECK(executor->held() == 0);
}

TEST_CASE_FIXTURE(Containers, "a lower score than a process was started with needs CAP_SYS_RESOURCE, and says so") {
  const pid_t first = start(app);
  const std::int64_t before = score_of(first);
  const Done done = apply(order(app, "oom_score_adj", std::to_string(before - 1)));
  if ((read_capability_sets()->effective & *linux_capability("CAP_SYS_RESOURCE")) != 0) {
    CHECK(done.outcome == Outcome::applied);
    CHECK(score_of(first) == before - 1);
    CHECK(undo().outcome == Outcome::reverted);
  } else {
    CHECK(done.outcome == Outcome::failed);
    CHECK_MESSAGE(done.problem.find("needs CAP_SYS_RESOURCE") != std::string::npos, done.problem);
  }
  CHECK(score_of(first) == before);
  CHECK(executor->held() == 0);
}

TEST_CASE_FIXTURE(Containers, "containers of one group share a cookie, those of others do not, and both are cleared") {
  const pid_t first = start(app), second = start(app), other = start(side);
  const auto apply_both = [&](const char* of_app, const char* of_side) {
    for (const Done& done :
         executor->apply({order(app, "core_sched.group", of_app), order(side, "core_sched.group", of_side)}).done)
      CHECK_MESSAGE(done.outcome == Outcome::applied, done.problem);
  };
  apply_both("group/a", "group/b");
  CHECK(acted->of(first) != 0);
  CHECK(acted->of(second) == acted->of(first));
  CHECK(acted->of(other) != 0);
  CHECK(acted->of(other) != acted->of(first));
  apply_both("group/a", "group/a");
  CHECK(acted->of(other) == acted->of(first));
  apply_both("group/a", "");
  CHECK(acted->of(other) == 0);
  for (const Undone& undone : executor->apply({}).undone)
    CHECK_MESSAGE((undone.done.outcome == Outcome::reverted || undone.done.outcome == Outcome::left),
                  undone.done.problem);
  CHECK(acted->of(first) == 0);
  CHECK(acted->of(second) == 0);
  CHECK(acted->of(::getpid()) == 0);
}

TEST_CASE_FIXTURE(Containers,
                  "after SIGKILL the journal names the group's cookie, for others of it and for the revert") {
  const pid_t first = start(app), other = start(side);
  REQUIRE(apply(order(app, "core_sched.group", "group/a")).outcome == Outcome::applied);
  const std::uint64_t cookie = acted->of(first);
  restart_after_kill();
  for (const Done& done :
       executor->apply({order(app, "core_sched.group", "group/a"), order(side, "core_sched.group", "group/a")}).done)
    CHECK_MESSAGE(done.outcome == Outcome::applied, done.problem);
  CHECK(acted->of(first) == cookie);
  CHECK(acted->of(other) == cookie);
  restart_after_kill();
  executor->apply({});
  CHECK(acted->of(first) == 0);
  CHECK(acted->of(other) == 0);
}

TEST_CASE_FIXTURE(Containers, "a cookie of another program is not replaced, and a cleared one is contested") {
  const pid_t first = start(app), other = start(side);
  {
    std::lock_guard lock(acted->mutex);
    acted->cookies[other] = 0xbeef;
  }
  const Done done = apply(order(side, "core_sched.group", "group/a"));
  CHECK(done.outcome == Outcome::failed);
  CHECK_MESSAGE(done.problem.find("has a core-scheduling cookie of another program") != std::string::npos,
                done.problem);
  CHECK(done.before == "cookie beef of another program");
  CHECK(acted->of(other) == 0xbeef);

  const Order wanted = order(app, "core_sched.group", "group/a");
  REQUIRE(apply(wanted).outcome == Outcome::applied);
  Outcome outcome = Outcome::applied;
  for (int round = 0; round < 3; ++round) {
    {
      std::lock_guard lock(acted->mutex);
      acted->cookies[first] = 0;
    }
    clock.advance(1min);
    outcome = apply(wanted).outcome;
  }
  CHECK(outcome == Outcome::contested);
}

TEST_CASE_FIXTURE(Containers, "a kernel without core scheduling is unsupported with its reason, and nothing is held") {
  start(app);
  for (const int absent : {EINVAL, ENODEV}) {
    CAPTURE(absent);
    acted->absent = absent;
    const Done done = apply(order(app, "core_sched.group", "group/a"));
    CHECK(done.outcome == Outcome::unsupported);
    CHECK_MESSAGE(
        done.problem.find(absent == EINVAL ? "CONFIG_SCHED_CORE" : "simultaneous multithreading") != std::string::npos,
        done.problem);
    CHECK(executor->held() == 0);
    clock.advance(1min);
  }
}

TEST_CASE_FIXTURE(Containers, "on a kernel with core scheduling the processes get real cookies, and lose them") {
  const KernelCoreScheduling kernel;
  const auto cookie_of = [&](pid_t pid) {
    std::uint64_t cookie = 0;
    CHECK(kernel.get(pid, cookie) == 0);
    return cookie;
  };
  if (std::uint64_t own = 0; kernel.get(0, own) != 0) {
    MESSAGE("not tested: the kernel has no core scheduling, or the machine no hyper-threads");
    return;
  }
  const pid_t first = start(app), second = start(app), other = start(side);
  const KnobFiles real{*cgroup::Layout::detect(NodeRoots()), NodeRoots()};
  {
    Executor session{real, originals, clock};
    for (const Done& done :
         session.apply({order(app, "core_sched.group", "group/a"), order(side, "core_sched.group", "group/b")}).done)
      CHECK_MESSAGE(done.outcome == Outcome::applied, done.problem);
    CHECK(cookie_of(first) != 0);
    CHECK(cookie_of(second) == cookie_of(first));
    CHECK(cookie_of(other) != cookie_of(first));
    for (const Done& done :
         session.apply({order(app, "core_sched.group", "group/a"), order(side, "core_sched.group", "group/a")}).done)
      CHECK_MESSAGE(done.outcome == Outcome::applied, done.problem);
    CHECK(cookie_of(other) == cookie_of(first));
  }
  const KnobFiles after_kill{*cgroup::Layout::detect(NodeRoots()), NodeRoots()};
  Executor session{after_kill, originals, clock};
  for (const Undone& undone : session.apply({}).undone)
    CHECK_MESSAGE(undone.done.outcome == Outcome::reverted, undone.done.problem);
  for (const pid_t pid : {first, second, other}) CHECK(cookie_of(pid) == 0);
  CHECK(cookie_of(::getpid()) == 0);
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
