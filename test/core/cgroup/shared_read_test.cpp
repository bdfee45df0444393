// SPDX-License-Identifier: Apache-2.0
// Tests which callers share a read of a kernel file, and which files are read.
#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"
#include "core/cgroup/reader.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::cgroup;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

using Keys = std::vector<std::string_view>;
using Values = std::vector<std::int64_t>;

// One caller's handle with the keys it opened.
struct Caller {
  Caller(Reader& the_reader, std::string_view file, Keys keys, std::string_view cgroup = "g")
      : reader(the_reader), handle(*reader.open(cgroup, file, keys)), values(keys.size()) {}
  ~Caller() { reader.close(handle); }

  const Values& read() {
    Result<Time> done = reader.read(handle, values);
    REQUIRE_MESSAGE(done, done.error().message());
    at = *done;
    return values;
  }

  Reader& reader;
  Handle handle;
  Values values;
  Time at;
};

struct OnV2 {
  FakeNode node{{"cgroup/cgroup.controllers", "cpu memory pids\n"},
                {"cgroup/g/cpu.stat", "usage_usec 1\nnr_periods 10\nnr_throttled 2\n"},
                {"cgroup/g/memory.stat", "anon 1\nfile 2\n"},
                {"cgroup/g/pids.current", "3\n"}};
  ManualClock clock;
  Reader reader = Reader(*Layout::detect(node.roots()), clock);

  std::uint64_t reads() const { return reader.use().reads; }
};

}  // namespace

TEST_CASE_FIXTURE(OnV2,
                  "callers that tick at the same time share one read, even if they need different keys of the file") {
  Caller first(reader, "cpu.stat", {"nr_periods"});
  Caller second(reader, "cpu.stat", {"nr_throttled", "nr_periods"});
  Caller third(reader, "cpu.usage", {"usage_ns"});  // the same file on v2
  for (std::uint64_t tick = 1; tick <= 3; ++tick) {
    CHECK(first.read() == Values{10});
    clock.advance(50ms);
    CHECK(second.read() == Values{2, 10});
    CHECK(third.read() == Values{1000});
    CHECK(third.at == first.at);
    CHECK(reads() == tick);
    clock.advance(950ms);
  }
  CHECK(reader.use().kernel_files == 1);
  CHECK(reader.use().shared == 6);
}

TEST_CASE_FIXTURE(OnV2, "a value that was read long before is not given to another caller") {
  Caller first(reader, "pids.current", {"pids"});
  Caller second(reader, "pids.current", {"pids"});
  first.read();
  clock.advance(501ms);
  node.write("cgroup/g/pids.current", "4\n");
  CHECK(second.read() == Values{4});
  CHECK(second.at == clock.now());
}

TEST_CASE_FIXTURE(OnV2, "no caller gets the same read twice, so a caller that ticks often gets a new value each time") {
  Caller often(reader, "pids.current", {"pids"});
  Caller seldom(reader, "pids.current", {"pids"});
  often.read();
  clock.advance(10ms);
  node.write("cgroup/g/pids.current", "4\n");
  CHECK(often.read() == Values{4});
  CHECK(seldom.read() == Values{4});
  CHECK(seldom.at == often.at);
  CHECK(reads() == 2);
}

TEST_CASE_FIXTURE(OnV2, "a key that was not requested before makes the file be read again") {
  Caller first(reader, "cpu.stat", {"nr_periods"});
  first.read();
  Caller second(reader, "cpu.stat", {"nr_throttled"});
  CHECK(second.read() == Values{2});
  CHECK(reads() == 2);
}

TEST_CASE_FIXTURE(OnV2, "a key of a caller that has closed no longer exists, and its place is used again") {
  auto first = std::make_unique<Caller>(reader, "cpu.stat", Keys{"nr_periods"});
  Caller second(reader, "cpu.stat", {"nr_throttled"});
  first.reset();
  Caller third(reader, "cpu.stat", {"throttled_ns", "nr_periods"});
  CHECK(third.read() == Values{kAbsent, 10});
  CHECK(second.read() == Values{2});
}

TEST_CASE_FIXTURE(OnV2, "a costly file is read once in its period for all callers, and answers with its last value") {
  reader.set_costly_period(5s);
  Caller first(reader, "memory.stat", {"anon"});
  Caller second(reader, "memory.stat", {"anon"});
  first.read();
  second.read();
  const Time opened = first.at;
  CHECK(reads() == 1);
  std::vector<Time> times;
  for (int tick = 0; tick < 20; ++tick) {
    clock.advance(1s);
    node.write("cgroup/g/memory.stat", "anon " + std::to_string(tick) + "\n");
    first.read();
    second.read();
    CHECK(second.at == first.at);
    CHECK(first.values[0] == (first.at == opened ? 1 : (first.at - opened) / 1s - 1));
    if (times.empty() || times.back() != first.at) times.push_back(first.at);
  }
  std::erase(times, opened);
  REQUIRE(times.size() == 4);
  for (std::size_t i = 1; i < times.size(); ++i) CHECK(times[i] - times[i - 1] == 5s);
  CHECK(reads() == 5);
}

TEST_CASE("the costly files of a node are not all read in one tick") {
  constexpr int kCgroups = 200;
  FakeNode node({{"cgroup/cgroup.controllers", "memory\n"}});
  for (int i = 0; i < kCgroups; ++i) node.write("cgroup/g" + std::to_string(i) + "/memory.stat", "anon 1\n");
  ManualClock clock;
  Reader reader(*Layout::detect(node.roots()), clock, {.costly_period = 5s});
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < kCgroups; ++i)
    callers.push_back(std::make_unique<Caller>(reader, "memory.stat", Keys{"anon"}, "g" + std::to_string(i)));
  for (const auto& caller : callers) caller->read();
  for (int tick = 0; tick < 5; ++tick) {
    const std::uint64_t before = reader.use().reads;
    clock.advance(1s);
    for (const auto& caller : callers) caller->read();
    const std::uint64_t in_tick = reader.use().reads - before;
    CHECK(in_tick > 0);
    CHECK(in_tick < kCgroups / 2);
  }
  CHECK(reader.use().reads == 2 * kCgroups);
}

TEST_CASE("v1's swap value is from the same read as memory.stat") {
  FakeNode node({{"cgroup/memory/g/memory.stat", "total_rss 8192\ntotal_swap 512\n"}});
  ManualClock clock;
  Reader reader(*Layout::detect(node.roots()), clock);
  Caller stat(reader, "memory.stat", {"anon"});
  Caller swap(reader, "memory.swap", {"swap_bytes"});
  CHECK(stat.read() == Values{8192});
  CHECK(swap.read() == Values{512});
  CHECK(reader.use().reads == 1);
}

TEST_CASE("values of several kernel files are as old as the first of them") {
  FakeNode node({{"cgroup/cpu/g/cpu.cfs_quota_us", "1\n"}, {"cgroup/cpu/g/cpu.cfs_period_us", "2\n"}});
  ManualClock clock;
  Reader reader(*Layout::detect(node.roots()), clock);
  Caller quota(reader, "cpu.max", {"quota_us"});
  Caller both(reader, "cpu.max", {"quota_us", "period_us"});
  quota.read();
  clock.advance(100ms);
  CHECK(both.read() == Values{1, 2});
  CHECK(both.at == quota.at);
}

TEST_CASE_FIXTURE(OnV2, "a cgroup made again is another one, also while an old handle is open") {
  Caller old(reader, "pids.current", {"pids"});
  old.read();
  node.remove("cgroup/g");
  CHECK(is_gone(reader.open("g", "pids.current", Keys{"pids"}).error()));
  node.write("cgroup/g/fresh", "");  // may get the inode of the removed file
  node.write("cgroup/g/pids.current", "9\n");
  Caller fresh(reader, "pids.current", {"pids"});
  CHECK(fresh.read() == Values{9});
  clock.advance(1s);
  CHECK(old.read() == Values{3});  // the value of the removed file; a read in a real cgroup would fail
}

TEST_CASE("where files are not kept each cgroup costs one descriptor in each hierarchy") {
  FakeNode node({{"cgroup/cpu/g/cpu.stat", "nr_periods 1\n"},
                 {"cgroup/cpu/g/cpu.cfs_quota_us", "1\n"},
                 {"cgroup/cpu/g/cpu.cfs_period_us", "1\n"},
                 {"cgroup/cpuacct/g/cpuacct.usage", "1\n"},
                 {"cgroup/memory/g/memory.stat", "total_rss 1\n"},
                 {"cgroup/memory/g/memory.usage_in_bytes", "1\n"},
                 {"cgroup/memory/g/memory.limit_in_bytes", "1\n"}});
  ManualClock clock;
  Reader reader(*Layout::detect(node.roots()), clock, {.kept_files = 0});
  {
    Caller stat(reader, "cpu.stat", {"nr_periods"});
    Caller max(reader, "cpu.max", {"quota_us", "period_us"});
    Caller usage(reader, "cpu.usage", {"usage_ns"});
    Caller memory(reader, "memory.stat", {"anon"});
    Caller bytes(reader, "memory.usage", {"usage_bytes"});
    Caller limit(reader, "memory.limit", {"limit_bytes"});
    for (Caller* caller : {&stat, &max, &usage, &memory, &bytes, &limit}) CHECK(caller->read()[0] == 1);
    CHECK(reader.use().kernel_files == 7);
    CHECK(reader.use().kept_files == 0);
    CHECK(reader.use().kept_directories == 3);
  }
  CHECK(reader.use().kept_directories == 0);
}

TEST_CASE_FIXTURE(OnV2, "through a kept directory no later cgroup of its name is read") {
  Reader by_directory(*Layout::detect(node.roots()), clock, {.kept_files = 0});
  Caller caller(by_directory, "pids.current", {"pids"});
  CHECK(caller.read() == Values{3});
  REQUIRE(by_directory.use().kept_directories == 1);
  node.remove("cgroup/g");
  node.write("cgroup/g/pids.current", "9\n");
  CHECK(is_gone(by_directory.read(caller.handle, caller.values).error()));
  Caller fresh(by_directory, "pids.current", {"pids"});
  CHECK(fresh.read() == Values{9});
  clock.advance(1s);
  CHECK(fresh.read() == Values{9});
}

TEST_CASE_FIXTURE(OnV2, "without any descriptor to keep files are opened by their path") {
  Reader by_path(*Layout::detect(node.roots()), clock, {.kept_files = 0, .kept_directories = 0});
  Caller caller(by_path, "pids.current", {"pids"});
  CHECK(caller.read() == Values{3});
  CHECK(by_path.use().kept_directories == 0);
}

TEST_CASE("costly files leave half of the descriptors to those that are read each tick") {
  FakeNode node({{"cgroup/cgroup.controllers", "memory pids\n"}});
  for (int i = 0; i < 8; ++i) {
    node.write("cgroup/g" + std::to_string(i) + "/memory.stat", "anon 1\n");
    node.write("cgroup/g" + std::to_string(i) + "/pids.current", "1\n");
  }
  ManualClock clock;
  Reader reader(*Layout::detect(node.roots()), clock, {.kept_files = 8, .costly_period = 5s});
  std::vector<std::unique_ptr<Caller>> callers;
  auto open_all = [&](std::string_view file, std::string_view key) {
    for (int i = 0; i < 8; ++i)
      callers.push_back(std::make_unique<Caller>(reader, file, Keys{key}, "g" + std::to_string(i)));
  };
  open_all("memory.stat", "anon");
  CHECK(reader.use().kept_files == 4);
  open_all("pids.current", "pids");
  CHECK(reader.use().kept_files == 8);
}
