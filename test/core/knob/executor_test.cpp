// SPDX-License-Identifier: Apache-2.0
#include "core/knob/executor.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "test/core/knob/executor_tree.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace std::chrono_literals;
using koord::test::ExecutorTree;

TEST_CASE_FIXTURE(ExecutorTree, "a decided value is written, read back and reverted") {
  Done done = apply(order("pod", "cpu.max", "30000 100000"));
  CHECK(done.outcome == Outcome::applied);
  CHECK(done.before == "50000 100000");
  CHECK(done.after == "30000 100000");
  CHECK(read("pod/cpu.max") == "30000 100000");
  CHECK(executor.held() == 1);
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(read("pod/cpu.max") == "50000 100000");
  CHECK(executor.held() == 0);
}

TEST_CASE_FIXTURE(ExecutorTree, "the original is the value before the first of several writes") {
  apply(order("pod", "cpu.max", "30000 100000"));
  apply(order("pod", "cpu.max", "40000 100000"));
  Done done = undo();
  CHECK(done.before == "40000 100000");
  CHECK(done.after == "50000 100000");
}

TEST_CASE_FIXTURE(ExecutorTree, "shares become the weight that the kubelet would write") {
  CHECK(apply(order("pod", "cpu.shares", "1024")).outcome == Outcome::applied);
  CHECK(read("pod/cpu.weight") == "39");
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(read("pod/cpu.weight") == "100");
}

TEST_CASE_FIXTURE(ExecutorTree, "an empty set is an original like any other") {
  CHECK(apply(order("pod", "cpuset.cpus", "0-1")).outcome == Outcome::applied);
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(read("pod/cpuset.cpus") == "");
}

TEST_CASE_FIXTURE(ExecutorTree, "a knob that has the value already is not written, and nothing is held") {
  CHECK(apply(order("pod", "cpu.max", "50000 100000")).outcome == Outcome::applied);
  CHECK(executor.held() == 0);
}

TEST_CASE_FIXTURE(ExecutorTree, "a knob that another process has written since is left to it") {
  apply(order("pod", "cpu.max", "30000 100000"));
  write("pod/cpu.max", "70000 100000");
  CHECK(undo().outcome == Outcome::left);
  CHECK(read("pod/cpu.max") == "70000 100000");
  CHECK(executor.held() == 0);
}

TEST_CASE_FIXTURE(ExecutorTree, "a user's single write of a managed file is overwritten at the next read") {
  apply(order("pod", "cpu.max", "30000 100000"));
  write("pod/cpu.max", "70000 100000");
  CHECK(apply(order("pod", "cpu.max", "30000 100000")).outcome == Outcome::applied);
  CHECK(read("pod/cpu.max") == "70000 100000");  // not read yet
  clock.advance(60s);
  CHECK(apply(order("pod", "cpu.max", "30000 100000")).outcome == Outcome::applied);
  CHECK(read("pod/cpu.max") == "30000 100000");
}

TEST_CASE_FIXTURE(ExecutorTree, "a CPU set that the kubelet changed under a cap is restored when the cap ends") {
  write("pod/cpuset.cpus", "0-7");
  Order cap = order("pod", "cpuset.cpus", "0-3");
  cap.bounds_original = true;
  apply(cap);
  write("pod/cpuset.cpus", "0-1,4-7");  // a pod got CPUs 2 and 3 exclusively
  clock.advance(60s);
  const Done done = apply(cap);
  CHECK(done.outcome == Outcome::applied);
  CHECK(done.good_until <= clock.now());  // the cap is composed with the new original in the next round
  CHECK(spell(*cap.knob, *executor.value_before({"pod", "cpuset.cpus", {}}, *cap.knob)) == "0-1,4-7");
  CHECK(originals.all().at(0).texts == Texts{"0-1,4-7"});  // kept for the next session, too
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(read("pod/cpuset.cpus") == "0-1,4-7");
}

TEST_CASE_FIXTURE(ExecutorTree, "a value that a runtime writes again is no original where a hook gives the base") {
  apply(order("pod", "cpu.weight", "50"));
  write("pod/cpu.weight", "70");
  clock.advance(60s);
  apply(order("pod", "cpu.weight", "50"));
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(read("pod/cpu.weight") == "100");
}

TEST_CASE_FIXTURE(
    ExecutorTree,
    "a process that resets a quota each second is overwritten more and more rarely, then not for a long time") {
  std::vector<std::int64_t> written;  // the seconds of the writes
  Done last;
  for (std::int64_t second = 0; second < 340; ++second) {
    write("pod/cpu.max", "70000 100000");
    last = apply(order("pod", "cpu.max", "30000 100000"));
    if (read("pod/cpu.max") == "30000 100000") written.push_back(second);
    clock.advance(1s);
  }
  REQUIRE(written.size() == 3);
  CHECK(written[0] == 0);
  CHECK(written[1] >= 30);  // the second of the next read
  CHECK(written[1] <= 60);
  CHECK(written[2] == written[1] + 5);
  CHECK(last.outcome == Outcome::contested);
  CHECK(last.problem.starts_with("another process keeps writing it, now '70000 100000'"));
  for (std::int64_t second = 0; second < 60; ++second) {
    last = apply(order("pod", "cpu.max", "30000 100000"));
    clock.advance(1s);
  }
  // the other writer has stopped; the write is tried again after the long pause
  CHECK(read("pod/cpu.max") == "30000 100000");
  CHECK(last.outcome == Outcome::applied);
}

TEST_CASE_FIXTURE(ExecutorTree, "a value that changes each second is no way around another writer") {
  unsigned writes = 0;
  for (int second = 0; second < 60; ++second) {
    write("pod/cpu.max", "70000 100000");
    const std::string value = std::to_string(30000 + second) + " 100000";
    apply(order("pod", "cpu.max", value));
    writes += read("pod/cpu.max") == value;
    clock.advance(1s);
  }
  CHECK(writes == 3);
}

TEST_CASE_FIXTURE(ExecutorTree,
                  "a read value is trusted for half of the refresh period at least, and for no more than all of it") {
  executor.set_limits({.refresh = 10s});
  apply(order("pod", "cpu.max", "50000 100000"));
  write("pod/cpu.max", "70000 100000");
  clock.advance(4s);
  CHECK(apply(order("pod", "cpu.max", "50000 100000")).after == "50000 100000");
  clock.advance(6s);
  CHECK(apply(order("pod", "cpu.max", "50000 100000")).before == "70000 100000");
  CHECK(read("pod/cpu.max") == "50000 100000");
}

TEST_CASE_FIXTURE(ExecutorTree, "more writes than are allowed in a second wait, reverts do not") {
  executor.set_limits({.writes_per_second = 1});
  const std::vector<Order> both{order("pod", "cpu.max", "60000 100000"), order("pod", "cpu.weight", "50")};
  Executor::Report report = executor.apply(both);
  CHECK(report.done[0].outcome == Outcome::applied);
  CHECK(report.done[1].outcome == Outcome::failed);
  CHECK(report.done[1].problem == "waits for its turn: more than 1 knobs were to be written in a second");
  clock.advance(1s);
  CHECK(executor.apply(both).done[1].outcome == Outcome::applied);
  CHECK(executor.apply({}).undone.size() == 2);
  CHECK(read("pod/cpu.weight") == "100");
}

TEST_CASE_FIXTURE(ExecutorTree, "a burst is no more than the quota, also when both are decided at once") {
  write("pod/cpu.max.burst", "0");
  const Done alone = apply(order("pod", "cpu.max.burst", "500000"));
  CHECK(alone.outcome == Outcome::applied);
  CHECK(alone.after == "50000");
  CHECK(alone.problem == "as much as the quota, since the kernel takes no more");
  executor.apply({order("pod", "cpu.max", "20000 100000"), order("pod", "cpu.max.burst", "500000")});
  CHECK(read("pod/cpu.max") == "20000 100000");
  CHECK(read("pod/cpu.max.burst") == "20000");
}

TEST_CASE_FIXTURE(ExecutorTree,
                  "a value that is possible only in part is written once, and more of it as soon as there is room") {
  struct Counting : MemoryOriginals {
    Result<void> keep(std::span<const Original> originals) override {
      ++batches;
      return MemoryOriginals::keep(originals);
    }
    unsigned batches = 0;
  } counting;
  Executor counted{files, counting, clock};
  write("pod/cpu.max.burst", "0");
  for (int second = 0; second < 100; ++second) {
    const Done done = counted.apply({order("pod", "cpu.max.burst", "500000")}).done.at(0);
    REQUIRE(done.outcome == Outcome::applied);
    REQUIRE(done.after == "50000");
    REQUIRE(done.problem == "as much as the quota, since the kernel takes no more");
    clock.advance(1s);
  }
  CHECK(counting.batches == 1);
  write("pod/cpu.max", "80000 100000");
  CHECK(counted.apply({order("pod", "cpu.max.burst", "500000")}).done.at(0).after == "80000");
  CHECK(counting.batches == 2);
  counted.apply({});
  CHECK(read("pod/cpu.max.burst") == "0");
}

TEST_CASE_FIXTURE(ExecutorTree, "CPUs that are taken offline are left out, and never all of them") {
  node.write("sys/devices/system/cpu/online", "0-2\n");
  Done done = apply(order("pod", "cpuset.cpus", "2-3"));
  CHECK(done.outcome == Outcome::applied);
  CHECK(done.after == "2");
  CHECK(done.problem == "without the CPUs 3, which are offline");
  done = apply(order("pod", "cpuset.cpus", "3-4"));
  CHECK(done.outcome == Outcome::failed);
  CHECK(done.problem == "none of the CPUs 3-4 is online");
  CHECK(read("pod/cpuset.cpus") == "2");
}

TEST_CASE(
    "on v1 a CPU that goes offline leaves each set, which does not count as another writer, and reverts are without it") {
  test::FakeNode node({{"cgroup/cpuset/be/cpuset.cpus", "0-3\n"}, {"sys/devices/system/cpu/online", "0-3\n"}});
  KnobFiles files{*cgroup::Layout::detect(node.roots()), node.roots()};
  MemoryOriginals originals;
  ManualClock clock;
  const auto set = [&] { return std::string(trim(*read_file(node.path("cgroup/cpuset/be/cpuset.cpus")))); };
  const auto go_offline = [&](const char* online, const char* left) {
    node.write("sys/devices/system/cpu/online", online);
    node.write("cgroup/cpuset/be/cpuset.cpus", left);
  };
  Executor executor{files, originals, clock};
  const std::vector<Order> orders{ExecutorTree::order("be", "cpuset.cpus", "0-1", Level::qos)};
  REQUIRE(executor.apply(orders).done[0].outcome == Outcome::applied);
  go_offline("0,2\n", "0\n");
  SUBCASE("it is proposed on") {
    for (int second = 0; second < 200; ++second) {
      clock.advance(1s);
      REQUIRE(executor.apply(orders).done[0].outcome == Outcome::applied);
    }
    CHECK(set() == "0");
    node.write("sys/devices/system/cpu/online", "0-3\n");
    clock.advance(60s);
    executor.apply(orders);
    CHECK(set() == "0-1");
    CHECK(executor.apply({}).undone.at(0).done.outcome == Outcome::reverted);
    CHECK(set() == "0-3");
  }
  SUBCASE("it is reverted") {
    CHECK(executor.apply({}).undone.at(0).done.outcome == Outcome::reverted);
    CHECK(set() == "0,2");
  }
  SUBCASE("it is reverted by the next agent") {
    Executor next{files, originals, clock};
    CHECK(next.apply({}).undone.at(0).done.outcome == Outcome::reverted);
    CHECK(set() == "0,2");
  }
  SUBCASE("another process has written it") {
    go_offline("0,2\n", "2\n");
    CHECK(executor.apply({}).undone.at(0).done.outcome == Outcome::left);
    CHECK(set() == "2");
  }
}

TEST_CASE_FIXTURE(ExecutorTree, "a container with exclusive CPUs is not throttled on them") {
  write("pod/app/cpuset.cpus", "2-3");
  executor.set_pinned({"pod/app"});
  const Done done = apply(order("pod/app", "cpu.max", "150000 100000"));
  CHECK(done.outcome == Outcome::failed);
  CHECK(done.problem == "its CPUs are its own, and it would be throttled on them");
  CHECK(apply(order("pod/app", "cpu.max", "200000 100000")).outcome == Outcome::applied);
}

TEST_CASE_FIXTURE(ExecutorTree, "a quota that a container with CPUs of its own had is restored") {
  write("pod/app/cpuset.cpus", "2-3");
  write("pod/app/cpu.max", "150000 100000");
  CHECK(apply(order("pod/app", "cpu.max", "250000 100000")).outcome == Outcome::applied);
  executor.set_pinned({"pod/app"});
  const Executor::Report report = executor.apply({});
  REQUIRE(report.undone.size() == 1);
  CHECK(report.undone[0].done.outcome == Outcome::reverted);
  CHECK(read("pod/app/cpu.max") == "150000 100000");
}

TEST_CASE_FIXTURE(ExecutorTree, "an idle cgroup gets its shares back with it") {
  write("pod/cpu.idle", "0");
  CHECK(apply(order("pod", "cpu.idle", "1")).outcome == Outcome::applied);
  write("pod/cpu.weight", "3");  // the kernel changes the weight, too
  clock.advance(60s);
  apply(order("pod", "cpu.idle", "1"));
  CHECK(executor.apply({order("pod", "cpu.weight", "50"), order("pod", "cpu.idle", "1")}).done[0].problem ==
        "the cgroup is idle, and has no shares");
  executor.apply({});
  CHECK(read("pod/cpu.idle") == "0");
  CHECK(read("pod/cpu.weight") == "100");
}

TEST_CASE_FIXTURE(ExecutorTree,
                  "a resctrl group is made before its share is written, and removed after the last of its knobs") {
  node.write("resctrl/schemata", "L3:0=fff\n");
  Executor::Report report = executor.apply({order("koord-be", "resctrl.l3", "0=f", Level::node)});
  CHECK(report.done[0].outcome == Outcome::gone);  // the kernel would fill it with files
  CHECK(std::filesystem::exists(node.path("resctrl/koord-be")));
  node.write("resctrl/koord-be/schemata", "L3:0=fff\n");
  report = executor.apply({order("koord-be", "resctrl.l3", "0=f", Level::node)});
  CHECK(report.done[0].outcome == Outcome::applied);
  CHECK(executor.held() == 2);
  node.write("resctrl/koord-be/schemata", "L3:0=f\n");
  report = executor.apply({});
  REQUIRE(report.undone.size() == 2);
  CHECK(report.undone[0].knob->name == "resctrl.l3");
  CHECK(report.undone[1].knob->name == "resctrl.made");
  CHECK(report.undone[1].done.outcome == Outcome::failed);  // it is not empty on a disk
  node.remove("resctrl/koord-be/schemata");
  CHECK(executor.apply({}).undone.at(0).done.outcome == Outcome::reverted);
  CHECK_FALSE(std::filesystem::exists(node.path("resctrl/koord-be")));
}

TEST_CASE_FIXTURE(ExecutorTree, "a group that does not belong to the agent is not made, and the line says why") {
  node.write("resctrl/schemata", "L3:0=fff\n");
  const Done done = apply(order("LSR", "resctrl.l3", "0=f", Level::node));
  CHECK(done.outcome == Outcome::failed);
  CHECK(done.problem.find("begins with 'koord-'") != std::string::npos);
}

TEST_CASE_FIXTURE(ExecutorTree, "a knob that this node does not have is unsupported") {
  CHECK(apply(order("pod", "pids.max", "100")).outcome == Outcome::unsupported);
  CHECK(apply(order("pod", "memory.low", "4096")).outcome == Outcome::unsupported);
}

TEST_CASE_FIXTURE(ExecutorTree, "a one-shot is done each time it is ordered, and has nothing to revert") {
  node.write("cgroup/pod/memory.reclaim", "");
  const Done done = apply(order("pod", "memory.reclaim", "4096"));
  CHECK(done.outcome == Outcome::applied);
  CHECK(done.after == "4096");
  CHECK(*read_file(node.path("cgroup/pod/memory.reclaim")) == "4096");
  CHECK(executor.held() == 0);
  CHECK(apply(order("pod/app", "memory.reclaim", "4096")).outcome == Outcome::unsupported);
  CHECK(apply(order("ended", "memory.reclaim", "4096")).outcome == Outcome::gone);
}

TEST_CASE_FIXTURE(ExecutorTree, "orders stay while others change, until they are dropped") {
  const Order quota = order("pod", "cpu.max", "30000 100000"), weight = order("pod", "cpu.weight", "50");
  executor.apply({quota}, {});
  CHECK(executor.apply({weight}, {}).undone.empty());
  CHECK(read("pod/cpu.max") == "30000 100000");
  const Executor::Report report = executor.apply({}, {{"pod", "cpu.max", {}}});
  REQUIRE(report.undone.size() == 1);
  CHECK(read("pod/cpu.max") == "50000 100000");
  CHECK(read("pod/cpu.weight") == "50");
}

TEST_CASE_FIXTURE(ExecutorTree, "a resctrl group stays while one of its shares is ordered") {
  for (const char* group : {"resctrl", "resctrl/koord-be"}) node.write(std::string(group) + "/schemata", "L3:0=f\n");
  executor.apply(
      {order("koord-be", "resctrl.l3", "0=f", Level::node), order("koord-be", "resctrl.mb", "0=50", Level::node)}, {});
  node.remove("resctrl/koord-be/schemata");
  executor.apply({}, {{"koord-be", "resctrl.mb", {}}});
  CHECK(std::filesystem::exists(node.path("resctrl/koord-be")));
}

TEST_CASE_FIXTURE(ExecutorTree, "a result states how long it is valid") {
  executor.set_limits({.refresh = 10s});
  const Time until = apply(order("pod", "cpu.max", "30000 100000")).good_until;
  CHECK(until > clock.now() + 5s);
  CHECK(until <= clock.now() + 10s);
  CHECK(apply(order("nowhere", "cpu.max", "30000 100000")).good_until <= clock.now());
}

TEST_CASE("knobs that were read at once are due at different times, each always at its own") {
  std::map<Duration, int> due;
  for (int i = 0; i < 6000; ++i) {
    const KnobKey key{"kubepods/pod" + std::to_string(i), "cpu.max", ""};
    const Duration trust = Executor::trust(key, 60s);
    CHECK(trust == Executor::trust(key, 60s));
    ++due[std::chrono::floor<std::chrono::seconds>(trust)];
  }
  REQUIRE(due.begin()->first >= 30s);
  REQUIRE(due.rbegin()->first <= 60s);
  for (const auto& [second, knobs] : due) CHECK(knobs < 400);  // 200 on average
}
