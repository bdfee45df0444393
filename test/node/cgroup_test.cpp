// SPDX-License-Identifier: Apache-2.0
// The cgroup reader on cgroups of this machine's kernel. Needs root.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <ctime>

#include "core/cgroup/reader.hpp"
#include "test/support/child_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::cgroup;
using koord::test::RealCgroup;

namespace {

using Keys = std::vector<std::string_view>;
using Values = std::vector<std::int64_t>;

const SystemClock real_clock;

Layout layout() { return *Layout::detect(NodeRoots()); }

std::int64_t cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

// Runs a child process in the cgroup that uses this much CPU time and ends.
void burn_in(const RealCgroup& cgroup, std::int64_t nanoseconds) {
  pid_t child = ::fork();
  if (child == 0) {
    cgroup.add_process(::getpid());
    for (std::int64_t start = cpu_ns(); cpu_ns() - start < nanoseconds;) continue;
    ::_exit(0);
  }
  REQUIRE(::waitpid(child, nullptr, 0) == child);
}

std::int64_t read_one(Reader& reader, const RealCgroup& cgroup, std::string_view file, std::string_view key) {
  Keys keys = {key};
  Values values(1);
  Result<Handle> handle = reader.open(cgroup.dir(), file, keys);
  REQUIRE_MESSAGE(handle, handle.error().message());
  REQUIRE(reader.read(*handle, values));
  reader.close(*handle);
  return values[0];
}

}  // namespace

TEST_CASE("every logical file has sane values on this kernel, or is reported as missing") {
  RealCgroup cgroup("files");
  Reader reader(layout(), real_clock);
  for (const LogicalFile& file : logical_files()) {
    std::string_view key = file.v1.keys.front().key;
    Result<Handle> handle = reader.open(cgroup.dir(), file.name, Keys{key});
    CAPTURE(std::string(file.name));
    if (!handle) {
      MESSAGE(handle.error().message());
      CHECK(handle.error().is(std::errc::not_supported));
      continue;
    }
    Values values(1);
    CHECK(reader.read(*handle, values));
    CHECK(values[0] >= -1);
  }
}

TEST_CASE("CPU time used in a cgroup is counted in nanoseconds") {
  RealCgroup cgroup("usage");
  Reader reader(layout(), real_clock);
  burn_in(cgroup, 50'000'000);
  std::int64_t usage = read_one(reader, cgroup, "cpu.usage", "usage_ns");
  CHECK(usage >= 45'000'000);
  CHECK(usage < 10'000'000'000);
}

TEST_CASE("limits read back as they were set") {
  RealCgroup cgroup("limits");
  Reader reader(layout(), real_clock);
  CHECK(read_one(reader, cgroup, "cpu.max", "quota_us") == -1);
  CHECK(read_one(reader, cgroup, "memory.limit", "limit_bytes") == -1);
  cgroup.limit_cpu(0.5);
  cgroup.limit_memory(64 << 20);
  CHECK(read_one(reader, cgroup, "cpu.max", "quota_us") * 2 == read_one(reader, cgroup, "cpu.max", "period_us"));
  CHECK(read_one(reader, cgroup, "memory.limit", "limit_bytes") == 64 << 20);
}

TEST_CASE("memory.stat of this kernel has the keys that usage without page cache needs") {
  RealCgroup cgroup("stat");
  Reader reader(layout(), real_clock);
  for (std::string_view key :
       {"anon", "file", "inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable"})
    CHECK(read_one(reader, cgroup, "memory.stat", key) >= 0);
}

TEST_CASE("memory of a NUMA node is counted with the cgroups inside, and all nodes make what memory.stat says") {
  constexpr std::size_t kBytes = 32u << 20;
  RealCgroup pod("numa");
  RealCgroup container(pod, "inside");
  int touched[2];
  REQUIRE(::pipe(touched) == 0);
  koord::test::ChildProcess holder([&] {
    container.add_process(::getpid());
    std::vector<char> memory(kBytes, 'x');
    (void)!::write(touched[1], memory.data(), 1);
    ::pause();
  });
  char byte;
  REQUIRE(::read(touched[0], &byte, 1) == 1);
  Reader reader(layout(), real_clock);
  Keys keys = {"anon N0", "unevictable N0", "anon N1", "unevictable N1"};
  Result<Handle> numa = reader.open(pod.dir(), "memory.numa_stat", keys);
  REQUIRE_MESSAGE(numa, numa.error().message());
  // Allows for other memory of the process, and for huge pages.
  const double least = 0.9 * kBytes, most = 2.0 * kBytes;
  double of_nodes = 0, of_stat = 0;
  // The kernel adds up the counts of its CPUs periodically.
  const bool agreed = koord::test::eventually([&] {
    Values values(keys.size());
    if (!reader.read(*numa, values)) return false;
    of_nodes = of_stat = 0;
    for (std::int64_t value : values) of_nodes += static_cast<double>(value == kAbsent ? 0 : value);
    for (const char* key : {"inactive_anon", "active_anon", "unevictable"})
      of_stat += static_cast<double>(read_one(reader, pod, "memory.stat", key));
    return of_nodes >= least && of_nodes < most && std::fabs(of_nodes - of_stat) < 0.05 * of_stat;
  });
  CHECK_MESSAGE(agreed, "nodes ", of_nodes, " memory.stat ", of_stat);
  ::close(touched[0]);
  ::close(touched[1]);
}

TEST_CASE("memory.events counts hits of a limit, and processes killed for it") {
  RealCgroup cgroup("events");
  cgroup.limit_memory(16 << 20);
  Reader reader(layout(), real_clock);
  CHECK(read_one(reader, cgroup, "memory.events", "oom_kill") == 0);
  koord::test::ChildProcess glutton([&] {
    cgroup.add_process(::getpid());
    std::vector<char> memory(256u << 20, 'x');
    ::pause();
  });
  CHECK(koord::test::eventually([&] { return read_one(reader, cgroup, "memory.events", "oom_kill") > 0; }));
  CHECK(read_one(reader, cgroup, "memory.events.local", "oom_kill") > 0);
  CHECK(read_one(reader, cgroup, "memory.events", "max") > 0);
}

TEST_CASE("a removed cgroup is gone for its handles, also when one of its name is made again") {
  // With kept files, with kept directories only, and with neither.
  const std::pair<std::size_t, std::size_t> kKept[] = {{1000, 1000}, {0, 1000}, {0, 0}};
  for (const auto& [files, directories] : kKept) {
    Reader reader(layout(), real_clock, {.kept_files = files, .kept_directories = directories});
    Values values(1);
    auto cgroup = std::make_unique<RealCgroup>("again");
    std::string dir = cgroup->dir();
    Handle usage = *reader.open(dir, "cpu.usage", Keys{"usage_ns"});
    Handle memory = *reader.open(dir, "memory.stat", Keys{"anon"});
    REQUIRE(reader.read(usage, values));
    REQUIRE(reader.read(memory, values));
    cgroup.reset();
    CHECK(is_gone(reader.read(usage, values).error()));
    CHECK(is_gone(reader.read(memory, values).error()));
    CHECK(is_gone(reader.open(dir, "cpu.usage", Keys{"usage_ns"}).error()));
    RealCgroup again("again");
    REQUIRE(again.dir() == dir);
    CHECK(is_gone(reader.read(usage, values).error()));
    CHECK(is_gone(reader.read(memory, values).error()));
    Result<Handle> fresh = reader.open(dir, "cpu.usage", Keys{"usage_ns"});
    REQUIRE_MESSAGE(fresh, fresh.error().message());
    CHECK(reader.read(*fresh, values));
  }
}

int main(int argc, char** argv) {
  if (std::optional<std::string> why = RealCgroup::unavailable()) {
    std::fprintf(stderr, "SKIPPED: no cgroup can be made here: %s\n", why->c_str());
    return koord::test::kSkip;
  }
  return doctest::Context(argc, argv).run();
}
