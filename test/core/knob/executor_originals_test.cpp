// SPDX-License-Identifier: Apache-2.0
// The originals of an executor: stored, reverted, handed over to the next session, and dropped with their cgroup.
#include "core/knob/executor.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

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

TEST_CASE_FIXTURE(ExecutorTree, "an ended cgroup is reported as gone, and its held values are forgotten") {
  apply(order("pod/app", "cpu.max", "10000 100000", Level::container));
  node.remove("cgroup/pod/app");
  clock.advance(60s);
  CHECK(apply(order("pod/app", "cpu.max", "10000 100000", Level::container)).outcome == Outcome::gone);
  CHECK(executor.held() == 0);
}

TEST_CASE_FIXTURE(ExecutorTree, "a new cgroup of an old one's name keeps what it was made with") {
  apply(order("pod/app", "cpu.max", "10000 100000"));
  // rename, because a disk reuses inodes
  std::filesystem::rename(node.path("cgroup/pod/app"), node.path("cgroup/pod/ended"));
  write("pod/app/cpu.max", "10000 100000");
  CHECK(undo().outcome == Outcome::gone);
  CHECK(read("pod/app/cpu.max") == "10000 100000");
}

TEST_CASE_FIXTURE(ExecutorTree, "a failed revert is tried again, and reported once") {
  apply(order("pod", "cpu.max", "30000 100000"));
  node.remove("cgroup/pod/cpu.max");
  node.make_directory("cgroup/pod/cpu.max");
  Undone first = executor.apply({}).undone.at(0);
  CHECK(first.done.outcome == Outcome::failed);
  CHECK_FALSE(first.again);
  CHECK(executor.apply({}).undone.at(0).again);
  node.remove("cgroup/pod/cpu.max");
  write("pod/cpu.max", "30000 100000");
  CHECK(undo().outcome == Outcome::reverted);
}

TEST_CASE_FIXTURE(ExecutorTree, "originals are stored before the knob is changed, and removed after it is reverted") {
  struct Keeper : MemoryOriginals {
    explicit Keeper(const ExecutorTree& of) : tree(of) {}
    Result<void> keep(std::span<const Original> originals) override {
      for (const Original& original : originals) seen.push_back(original.texts[0] + " of " + tree.read("pod/cpu.max"));
      if (refuses) return system_error(ENOSPC, "cannot write 'originals'");
      return MemoryOriginals::keep(originals);
    }
    const ExecutorTree& tree;
    bool refuses = true;
    std::vector<std::string> seen;
  } keeper{*this};
  Executor careful{files, keeper, clock};
  const Done refused = careful.apply({order("pod", "cpu.max", "30000 100000")}).done.at(0);
  CHECK(refused.outcome == Outcome::failed);
  CHECK(refused.problem == "cannot write 'originals': No space left on device");
  CHECK(read("pod/cpu.max") == "50000 100000");
  keeper.refuses = false;
  CHECK(careful.apply({order("pod", "cpu.max", "30000 100000")}).done.at(0).outcome == Outcome::applied);
  CHECK(keeper.seen == std::vector<std::string>(2, "50000 100000 of 50000 100000"));
  REQUIRE(keeper.all().size() == 1);
  CHECK(keeper.all()[0].key == KnobKey{"pod", "cpu.max", ""});
  CHECK(keeper.all()[0].written == Texts{"30000 100000"});
  careful.apply({});
  CHECK(keeper.all().empty());
}

TEST_CASE_FIXTURE(ExecutorTree, "originals of an earlier session are reverted, or used again") {
  const auto inode = files.read({*find_knob("cpu.max"), "pod"})->cgroup;
  auto earlier = [&](const char* dir, const char* knob, const char* text, const char* written, std::uint64_t cgroup) {
    const Original one{{dir, knob, ""}, Level::pod, knob, cgroup, {text}, {written}};
    REQUIRE(originals.keep(std::span(&one, 1)));
  };
  earlier("pod", "cpu.max", "70000 100000", "50000 100000", inode);
  earlier("pod", "cpu.weight", "20", "100", inode);
  Executor next{files, originals, clock};
  CHECK(next.held() == 2);
  CHECK(next.apply({order("pod", "cpu.weight", "100")}).undone.at(0).done.outcome == Outcome::reverted);
  CHECK(read("pod/cpu.max") == "70000 100000");
  CHECK(next.apply({}).undone.at(0).done.outcome == Outcome::reverted);
  CHECK(read("pod/cpu.weight") == "20");
}

TEST_CASE_FIXTURE(ExecutorTree, "the limit of a device that had none is removed again") {
  node.write("cgroup/cgroup.controllers", "cpu io\n");
  node.write("cgroup/pod/io.max", "8:0 rbps=1 wbps=max riops=max wiops=max\n");
  KnobFiles with_io{*cgroup::Layout::detect(node.roots()), node.roots()};
  Executor limiting{with_io, originals, clock};
  CHECK(limiting.apply({order("pod", "io.max", "8:16 rbps=1000")}).done.at(0).outcome == Outcome::applied);
  CHECK(read("pod/io.max") == "8:16 rbps=1000 wbps=max riops=max wiops=max");
  CHECK(limiting.apply({}).undone.at(0).done.outcome == Outcome::reverted);
  CHECK(read("pod/io.max") == "8:16 rbps=max wbps=max riops=max wiops=max");
}

namespace {

Adjusted adjusted(const char* dir, const char* knob, const char* before) {
  return {.knob = knob, .cgroup_dir = dir, .before = before, .plugin = "hook"};
}

}  // namespace

TEST_CASE_FIXTURE(ExecutorTree,
                  "a value that a hook had set before the first write is not an original, and not in the journal") {
  apply(order("pod/app", "cpu.max", "10000 100000", Level::container));  // the runtime created it with 20000
  const Adjusted before = adjusted("pod/app", "cpu.max", "70000 100000");
  REQUIRE(executor.hold(std::span(&before, 1), 30s));
  CHECK(read("pod/app/cpu.max") == "10000 100000");
  REQUIRE(originals.all().size() == 1);
  CHECK(originals.all()[0].texts == Texts{"70000 100000"});
  CHECK(originals.all()[0].written == Texts{"10000 100000"});
  REQUIRE(executor.hold(std::span(&before, 1), 30s));  // after a restart the answer is held again
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(read("pod/app/cpu.max") == "70000 100000");
}

TEST_CASE_FIXTURE(ExecutorTree, "the original of shares that were written by their other name is corrected, too") {
  apply(order("pod", "cpu.weight", "300"));
  const Adjusted before = adjusted("pod", "cpu.shares", "2");
  REQUIRE(executor.hold(std::span(&before, 1), 30s));
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(read("pod/cpu.weight") == "1");
}

TEST_CASE_FIXTURE(ExecutorTree, "values that the kernel supports are held; a knob that the kernel lacks is left out") {
  const Adjusted values[] = {adjusted("pod", "cpu.idle", "0 512"), adjusted("gone", "cpu.weight", "7"),
                             adjusted("pod", "cpu.weight", "7")};
  CHECK_FALSE(executor.hold(values, 0s));
  CHECK(executor.held() == 1);
  CHECK(executor.hold(std::span(values, 1), 0s));
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(read("pod/cpu.weight") == "7");
}

TEST_CASE_FIXTURE(ExecutorTree, "a cgroup that a hook has made idle gets back its weight with the end of the hook") {
  write("pod/cpu.idle", "1");
  write("pod/cpu.weight", "0");
  const Adjusted before = adjusted("pod", "cpu.idle", "0 512");
  REQUIRE(executor.hold(std::span(&before, 1), 0s));
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(read("pod/cpu.idle") == "0");
  CHECK(read("pod/cpu.weight") == "20");
}

TEST_CASE_FIXTURE(ExecutorTree, "a v2 cgroup that had no CPU set has none again") {
  write("pod/cpuset.cpus", "1");
  const Adjusted before = adjusted("pod", "cpuset.cpus", "");
  REQUIRE(executor.hold(std::span(&before, 1), 0s));
  CHECK(undo().outcome == Outcome::reverted);
  CHECK(read("pod/cpuset.cpus") == "");
}

TEST_CASE("without a set before, a cgroup of v1 has that of the cgroup around it, as the runtime had made it") {
  test::FakeNode node{{"cgroup/cpuset/cpuset.cpus", "0-3\n"},
                      {"cgroup/cpuset/pod/app/cpuset.cpus", "1\n"},
                      {"cgroup/cpuset/pod/cpuset.cpus", "0-2\n"},
                      {"cgroup/cpu/cpu.shares", "1024\n"}};
  KnobFiles files{*cgroup::Layout::detect(node.roots()), node.roots()};
  MemoryOriginals originals;
  ManualClock clock;
  Executor executor{files, originals, clock};
  const Adjusted before = adjusted("pod/app", "cpuset.cpus", "");
  REQUIRE(executor.hold(std::span(&before, 1), 0s));
  CHECK(executor.apply({}).undone.at(0).done.outcome == Outcome::reverted);
  CHECK(*read_file(node.path("cgroup/cpuset/pod/app/cpuset.cpus")) == "0-2");
}
