// SPDX-License-Identifier: Apache-2.0
// A cgroup that is replaced between the read and the write, and a revert that is refused once.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/knob/executor.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;

namespace {

// Runs a function before the first write and after each write.
struct Between : MemoryOriginals {
  Result<void> keep(std::span<const Original> originals) override {
    if (auto now = std::exchange(before_write, nullptr)) now();
    return MemoryOriginals::keep(originals);
  }
  void wrote(const KnobKey& key, const Texts& written) override {
    if (auto now = std::exchange(after_write, nullptr)) now();
    MemoryOriginals::wrote(key, written);
  }
  std::function<void()> before_write, after_write;
};

struct Node {
  test::FakeNode node{{"cgroup/cgroup.controllers", "cpu\n"}, {"cgroup/svc/cpu.max", "50000 100000\n"}};
  KnobFiles files{*cgroup::Layout::detect(node.roots()), node.roots()};
  Between originals;
  ManualClock clock;
  Executor executor{files, originals, clock};

  std::string read() const { return std::string(trim(*read_file(node.path("cgroup/svc/cpu.max")))); }
  void replace(bool is_removed) {
    if (is_removed)
      std::filesystem::remove_all(node.path("cgroup/svc"));
    else
      std::filesystem::rename(node.path("cgroup/svc"), node.path("cgroup/moved"));
    node.write("cgroup/svc/cpu.max", "70000 100000\n");
  }
  static std::vector<Order> order(std::string_view value) {
    const Knob* knob = find_knob("cpu.max");
    return {{Level::qos, "svc", knob, *parse_value(*knob, value)}};
  }
};

}  // namespace

TEST_CASE_FIXTURE(Node, "a cgroup that replaced another between the read and the write gets nothing") {
  for (const bool is_removed : {true, false}) {
    CAPTURE(is_removed);
    originals.before_write = [&] { replace(is_removed); };
    const Done done = executor.apply(order("20000 100000")).done.at(0);
    CHECK(done.outcome == Outcome::gone);
    CHECK(read() == "70000 100000");
    CHECK(executor.held() == 0);
    CHECK(originals.all().empty());
    // The next round recognises it as a new cgroup.
    CHECK(executor.apply(order("20000 100000")).done.at(0).outcome == Outcome::applied);
    CHECK(executor.apply({}).undone.at(0).done.outcome == Outcome::reverted);
    CHECK(read() == "70000 100000");
    node.write("cgroup/svc/cpu.max", "50000 100000\n");
  }
}

TEST_CASE_FIXTURE(Node, "a cgroup that replaced another before a revert keeps its own value") {
  REQUIRE(executor.apply(order("20000 100000")).done.at(0).outcome == Outcome::applied);
  originals.before_write = [&] { replace(true); };
  CHECK(executor.apply({}).undone.at(0).done.outcome == Outcome::gone);
  CHECK(read() == "70000 100000");
  CHECK(executor.held() == 0);
}

TEST_CASE_FIXTURE(
    Node, "where too many directories would be open, the one of the write is compared with the one of the read") {
  const Knob& knob = *find_knob("cpu.max");
  KnobFiles::Reading now = *files.read({knob, "svc"});
  now.directory.reset();
  CHECK(files.replace({knob, "svc"}, {"30000 100000"}, now).has_value());
  CHECK(read() == "30000 100000");
  replace(false);
  CHECK(files.replace({knob, "svc"}, {"30000 100000"}, now).error().is(std::errc::no_such_device));
  CHECK(read() == "70000 100000");
}

TEST_CASE_FIXTURE(Node, "a revert that is refused once and taken the second time is reported as reverted") {
  REQUIRE(executor.apply(order("20000 100000")).done.at(0).outcome == Outcome::applied);
  const std::string file = node.path("cgroup/svc/cpu.max"), kept = node.path("kept");
  originals.before_write = [&] {
    std::filesystem::rename(file, kept);
    std::filesystem::create_symlink("/dev/full", file);  // ENOSPC
  };
  originals.after_write = [&] { std::filesystem::rename(kept, file); };
  const Undone undone = executor.apply({}).undone.at(0);
  CHECK(undone.done.outcome == Outcome::reverted);
  CHECK(undone.done.problem.empty());
  CHECK(read() == "50000 100000");
  CHECK(executor.held() == 0);
}
