// SPDX-License-Identifier: Apache-2.0
// Reads on many threads while one read does not return: a named pipe replaces a file of a cgroup. Opening a pipe waits
// for a writer, as a read of a hung mount waits.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "core/base/manual_clock.hpp"
#include "core/base/unique_fd.hpp"
#include "core/cgroup/reader.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::cgroup;
using koord::test::FakeNode;
using namespace std::chrono_literals;

namespace {

const std::vector<std::string_view> kPids = {"pids"};

struct WithPipe {
  FakeNode node{{"cgroup/cgroup.controllers", "pids\n"},
                {"cgroup/stuck/pids.current", "1\n"},
                {"cgroup/other/pids.current", "2\n"}};
  ManualClock clock;
  Reader reader = Reader(*Layout::detect(node.roots()), clock, {.kept_files = 0, .longest_wait = 20ms});

  void put_pipe() {
    REQUIRE(::mkfifo(node.path("cgroup/stuck/pipe").c_str(), 0600) == 0);
    std::filesystem::rename(node.path("cgroup/stuck/pipe"), node.path("cgroup/stuck/pids.current"));
  }
  // Lets a thread that waits for a writer continue.
  void let_go() { UniqueFd writer(::open(node.path("cgroup/stuck/pids.current").c_str(), O_WRONLY | O_CLOEXEC)); }

  Result<std::int64_t> read_other() {
    Handle handle = TRY(reader.open("other", "pids.current", kPids));
    std::vector<std::int64_t> values(1);
    Result<Time> done = reader.read(handle, values);
    reader.close(handle);
    TRY(std::move(done));
    return values[0];
  }
};

template <class Condition>
bool comes_true(Condition&& condition) {
  for (int i = 0; i < 60'000 && !condition(); ++i) std::this_thread::sleep_for(1ms);
  return condition();
}

}  // namespace

TEST_CASE_FIXTURE(
    WithPipe, "a read that does not return blocks only its caller, and other callers that need the file get an error") {
  const Handle first = *reader.open("stuck", "pids.current", kPids);
  const Handle second = *reader.open("stuck", "pids.current", kPids);
  put_pipe();
  std::atomic<int> reported = 0, returned = 0;
  auto read = [&](Handle handle) {
    std::vector<std::int64_t> values(1);
    const Result<Time> done = reader.read(handle, values);
    reported += !done && done.error().is(std::errc::resource_unavailable_try_again);
    ++returned;
  };
  std::thread one(read, first), two(read, second);
  CHECK(comes_true([&] { return reported == 1; }));
  CHECK(returned == 1);  // the other thread waits in the kernel
  CHECK(read_other().value() == 2);
  read(first);  // returns immediately
  CHECK(reported == 2);
  CHECK_FALSE(reader.open("stuck", "pids.current", kPids));
  reader.close(second);
  let_go();
  one.join();
  two.join();
  CHECK(returned == 3);
  CHECK(reported == 2);
}

TEST_CASE_FIXTURE(WithPipe, "an open that does not return blocks only its caller") {
  put_pipe();
  std::atomic<int> reported = 0, opened = 0;
  auto open = [&] {
    const Result<Handle> handle = reader.open("stuck", "pids.current", kPids);
    if (handle) ++opened;
    reported += !handle && handle.error().is(std::errc::resource_unavailable_try_again);
  };
  std::thread one(open), two(open);
  CHECK(comes_true([&] { return reported == 1; }));
  CHECK(opened == 0);
  CHECK(read_other().value() == 2);
  let_go();
  one.join();
  two.join();
  CHECK(opened == 1);
  CHECK(reported == 1);
}

TEST_CASE("a file is read on many threads while callers come and go") {
  FakeNode node({{"cgroup/cgroup.controllers", "cpu pids\n"},
                 {"cgroup/g/cpu.stat", "usage_usec 1\nnr_periods 10\nnr_throttled 2\n"},
                 {"cgroup/g/pids.current", "3\n"}});
  for (const std::size_t kept : {std::size_t{1000}, std::size_t{1}, std::size_t{0}}) {
    ManualClock clock;
    Reader reader(*Layout::detect(node.roots()), clock, {.kept_files = kept, .longest_wait = 1min});
    std::atomic<int> wrong = 0;
    auto call = [&](int number) {
      const bool throttled = number % 2 == 0;
      const std::vector<std::string_view> keys = throttled
                                                     ? std::vector<std::string_view>{"nr_throttled", "nr_periods"}
                                                     : std::vector<std::string_view>{"nr_periods", "throttled_ns"};
      std::vector<std::int64_t> values(2), pids(1);
      for (int round = 0; round < 100; ++round) {
        const Result<Handle> handle = reader.open("g", "cpu.stat", keys);
        const Result<Handle> other = reader.open("g", "pids.current", kPids);
        for (int tick = 0; tick < 5 && handle && other; ++tick) {
          clock.advance(100ms);
          wrong += !reader.read(*handle, values) || !reader.read(*other, pids) || pids[0] != 3 ||
                   values[0] != (throttled ? 2 : 10) || values[1] != (throttled ? 10 : kAbsent);
        }
        wrong += !handle || !other;
        if (handle) reader.close(*handle);
        if (other) reader.close(*other);
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(call, i);
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(reader.use().handles == 0);
    CHECK(reader.use().kernel_files == 0);
    CHECK(reader.use().kept_files == 0);
    CHECK(reader.use().kept_directories == 0);
  }
}

TEST_CASE("one handle is read on several threads") {
  FakeNode node({{"cgroup/cgroup.controllers", "pids\n"}, {"cgroup/g/pids.current", "3\n"}});
  ManualClock clock;
  Reader reader(*Layout::detect(node.roots()), clock, {.longest_wait = 1min});
  const Handle handle = *reader.open("g", "pids.current", kPids);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      std::vector<std::int64_t> values(1);
      for (int n = 0; n < 300; ++n) wrong += !reader.read(handle, values) || values[0] != 3;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
