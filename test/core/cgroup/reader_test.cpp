// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/reader.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/manual_clock.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::cgroup;
using koord::test::FakeNode;

namespace {

using Keys = std::vector<std::string_view>;
using Values = std::vector<std::int64_t>;

ManualClock standing_clock;

Reader reader_of(const FakeNode& node, std::size_t kept = 1000) {
  return Reader(*Layout::detect(node.roots()), standing_clock, {.kept_files = kept});
}

Result<Values> read_once(Reader& reader, std::string_view cgroup, std::string_view file, const Keys& keys) {
  Handle handle = TRY(reader.open(cgroup, file, keys));
  Values values(keys.size());
  Result<Time> done = reader.read(handle, values);
  reader.close(handle);
  TRY(std::move(done));
  return values;
}

// The same cgroup "g" in each version of cgroups.
const FakeNode& v1_node() {
  static const FakeNode node({
      {"cgroup/cpuacct/g/cpuacct.usage", "5000000\n"},
      {"cgroup/cpu/g/cpu.stat", "nr_periods 10\nnr_throttled 2\nthrottled_time 3000\nnr_bursts 4\nburst_time 5000\n"},
      {"cgroup/cpu/g/cpu.cfs_quota_us", "20000\n"},
      {"cgroup/cpu/g/cpu.cfs_period_us", "100000\n"},
      {"cgroup/cpu/g/cpu.shares", "2597\n"},
      {"cgroup/memory/g/memory.usage_in_bytes", "8192\n"},
      {"cgroup/memory/g/memory.limit_in_bytes", "9223372036854771712\n"},
      {"cgroup/memory/g/memory.stat",
       "cache 1\nrss 2\nswap 1\ntotal_cache 4096\ntotal_rss 8192\ntotal_unevictable 0\ntotal_swap 512\n"},
      {"cgroup/memory/g/memory.max_usage_in_bytes", "16384\n"},
      {"cgroup/memory/g/memory.oom_control", "oom_kill_disable 0\nunder_oom 1\noom_kill 2\n"},
      {"cgroup/memory/g/memory.failcnt", "7\n"},
      {"cgroup/pids/g/pids.current", "3\n"},
  });
  return node;
}

const FakeNode& v2_node() {
  static const FakeNode node({
      {"cgroup/cgroup.controllers", "cpu memory pids\n"},
      {"cgroup/g/cpu.stat",
       "usage_usec 5000\nuser_usec 1\nnr_periods 10\nnr_throttled 2\nthrottled_usec 3\nnr_bursts 4\n"
       "burst_usec 5\n"},
      {"cgroup/g/cpu.max", "20000 100000\n"},
      {"cgroup/g/cpu.weight", "100\n"},
      {"cgroup/g/memory.current", "8192\n"},
      {"cgroup/g/memory.max", "max\n"},
      {"cgroup/g/memory.stat", "anon 8192\nfile 4096\nunevictable 0\n"},
      {"cgroup/g/memory.swap.current", "512\n"},
      {"cgroup/g/memory.peak", "16384\n"},
      {"cgroup/g/memory.events", "low 1\nhigh 2\nmax 7\noom 3\noom_kill 2\noom_group_kill 1\n"},
      {"cgroup/g/memory.events.local", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 0\n"},
      {"cgroup/g/pids.current", "3\n"},
      {"cgroup/g/cpu.pressure", "some avg10=1.50 avg60=0.00 avg300=0.00 total=7\n"},
  });
  return node;
}

}  // namespace

TEST_CASE("every logical file has the same values on v1 and v2") {
  for (const FakeNode* node : {&v1_node(), &v2_node()}) {
    Reader reader = reader_of(*node);
    CHECK(*read_once(reader, "g", "cpu.usage", {"usage_ns"}) == Values{5000000});
    CHECK(*read_once(reader, "g", "cpu.stat", {"throttled_ns", "nr_periods", "nr_throttled"}) == Values{3000, 10, 2});
    CHECK(*read_once(reader, "g", "cpu.stat", {"nr_bursts", "burst_ns"}) == Values{4, 5000});
    CHECK(*read_once(reader, "g", "cpu.max", {"quota_us", "period_us"}) == Values{20000, 100000});
    CHECK(*read_once(reader, "g", "cpu.shares", {"shares"}) == Values{2597});
    CHECK(*read_once(reader, "g", "memory.usage", {"usage_bytes"}) == Values{8192});
    CHECK(*read_once(reader, "g", "memory.limit", {"limit_bytes"}) == Values{-1});
    CHECK(*read_once(reader, "g", "memory.peak", {"peak_bytes"}) == Values{16384});
    CHECK(*read_once(reader, "g", "memory.swap", {"swap_bytes"}) == Values{512});
    CHECK(*read_once(reader, "g", "memory.events", {"oom_kill", "max"}) == Values{2, 7});
    CHECK(*read_once(reader, "g", "memory.events.local", {"max", "oom_kill"}) == Values{7, 2});
    CHECK(*read_once(reader, "g", "memory.stat", {"file", "anon", "unevictable"}) == Values{4096, 8192, 0});
    CHECK(*read_once(reader, "g", "pids.current", {"pids"}) == Values{3});
  }
}

TEST_CASE("a key that only the other version of cgroups has is absent") {
  Reader reader = reader_of(v1_node());
  CHECK(*read_once(reader, "g", "memory.stat", {"slab", "anon"}) == Values{kAbsent, 8192});
  CHECK(*read_once(reader, "g", "memory.stat", {"slab"}) == Values{kAbsent});
}

TEST_CASE("memory.events: events that v1 does not count are absent, and so are those of v1 alone") {
  Reader v1 = reader_of(v1_node());
  CHECK(*read_once(v1, "g", "memory.events", {"oom", "high", "low", "under_oom"}) ==
        Values{kAbsent, kAbsent, kAbsent, 1});
  Reader v2 = reader_of(v2_node());
  CHECK(*read_once(v2, "g", "memory.events", {"oom", "high", "low", "under_oom"}) == Values{3, 2, 1, kAbsent});
}

TEST_CASE("memory.numa_stat: the LRU lists of a node have the same values on v1 and v2, N0 as the version counts it") {
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  FakeNode v1({{"cgroup/memory/g/memory.numa_stat",
                "total=9 N0=9\nfile=9 N0=9\nanon=9 N0=9\nunevictable=9 N0=9\nhierarchical_total=60 N0=10 N1=50\n"
                "hierarchical_file=6 N0=1 N1=5\nhierarchical_anon=20 N0=5 N1=15\n"
                "hierarchical_unevictable=34 N0=4 N1=30\n"}});
  auto pages = [page](int n) { return std::to_string(n * page); };
  FakeNode v2({{"cgroup/cgroup.controllers", "memory\n"},
               {"cgroup/g/memory.numa_stat",
                "anon N0=" + pages(3) + " N1=" + pages(1) + "\nfile N0=0 N1=0\ninactive_anon N0=" + pages(1) +
                    " N1=" + pages(15) + "\nactive_anon N0=" + pages(4) + " N1=0\ninactive_file N0=0 N1=" + pages(5) +
                    "\nactive_file N0=" + pages(1) + " N1=0\nunevictable N0=" + pages(4) + " N1=" + pages(30) + "\n"}});
  const Keys keys = {"anon N0", "file N0", "unevictable N0", "unevictable N1", "anon N1", "anon N2"};
  const Values expected = {5 * page, page, 4 * page, 30 * page, 15 * page, kAbsent};
  Reader of_v1 = reader_of(v1);
  CHECK(*read_once(of_v1, "g", "memory.numa_stat", keys) == expected);
  CHECK(*read_once(of_v1, "g", "memory.numa_stat", {"N0", "N1"}) == Values{5 * page, 15 * page});
  Reader of_v2 = reader_of(v2);
  CHECK(*read_once(of_v2, "g", "memory.numa_stat", keys) == expected);
  CHECK(*read_once(of_v2, "g", "memory.numa_stat", {"N0", "N1"}) == Values{3 * page, page});
  CHECK(of_v2.open("g", "memory.numa_stat", Keys{"slab N0"}).error().is(std::errc::invalid_argument));
}

TEST_CASE("pressure comes from the unified tree of a hybrid node") {
  FakeNode node({{"cgroup/cpuacct/g/", ""},
                 {"cgroup/unified/cgroup.controllers", ""},
                 {"cgroup/unified/g/cpu.pressure", "some avg10=2.00 total=9\n"}});
  Reader reader = reader_of(node);
  CHECK(*read_once(reader, "g", "cpu.pressure", {"some_avg10", "some_total_us"}) == Values{200, 9});
}

TEST_CASE("pressure comes from the cpuacct tree where a vendor's kernel has it") {
  FakeNode node(
      {{"cgroup/cpuacct/g/io.pressure", "some avg10=3.00 total=9\n"}, {"cgroup/unified/cgroup.controllers", ""}});
  Reader reader = reader_of(node);
  CHECK(*read_once(reader, "g", "io.pressure", {"some_avg10"}) == Values{300});
}

TEST_CASE("a vendor's pressure files are read before the unified tree's: every container is in cpuacct") {
  FakeNode node({{"cgroup/cpuacct/g/cpu.pressure", "some avg10=3.00 total=9\n"},
                 {"cgroup/unified/cgroup.controllers", ""},
                 {"cgroup/unified/g/cpu.pressure", "some avg10=2.00 total=8\n"}});
  Reader reader = reader_of(node);
  CHECK(*read_once(reader, "g", "cpu.pressure", {"some_avg10", "some_total_us"}) == Values{300, 9});
}

TEST_CASE("a missing cgroup is gone, a missing file is not supported") {
  Reader reader = reader_of(v2_node());
  Result<Values> gone = read_once(reader, "h", "cpu.max", {"quota_us"});
  CHECK(is_gone(gone.error()));
  CHECK(gone.error().message().starts_with("the cgroup of '" + v2_node().path("cgroup/h/cpu.max") + "' is gone"));
  CHECK(read_once(reader, "g", "memory.numa_stat", {"N0"}).error().is(std::errc::not_supported));
}

TEST_CASE("a hybrid cgroup without a unified directory lacks pressure, but is not gone") {
  FakeNode node({{"cgroup/cpuacct/g/", ""}, {"cgroup/unified/cgroup.controllers", ""}});
  Reader reader = reader_of(node);
  CHECK(read_once(reader, "g", "cpu.pressure", {"some_avg10"}).error().is(std::errc::not_supported));
  CHECK(is_gone(read_once(reader, "h", "cpu.pressure", {"some_avg10"}).error()));
}

TEST_CASE("a v1 cgroup that is in other trees only is not gone") {
  FakeNode node({{"cgroup/cpu/g/", ""}, {"cgroup/pids/", ""}});
  Reader reader = reader_of(node);
  CHECK(reader.open("g", "pids.current", Keys{"pids"}).error().is(std::errc::not_supported));
  CHECK(is_gone(reader.open("h", "pids.current", Keys{"pids"}).error()));
}

TEST_CASE("a file of a controller that the node lacks is not supported") {
  FakeNode node({{"cgroup/cpu/g/", ""}});
  Reader reader = reader_of(node);
  CHECK(reader.open("g", "memory.usage", Keys{"usage_bytes"}).error().is(std::errc::not_supported));
}

TEST_CASE("an unknown file or key is refused with the nearest known one") {
  Reader reader = reader_of(v2_node());
  CHECK(reader.open("g", "memory.stats", Keys{"anon"}).error().message() ==
        "no cgroup file 'memory.stats', did you mean 'memory.stat'?");
  CHECK(reader.open("g", "memory.stat", Keys{"anonn"}).error().message() ==
        "'memory.stat' has no key 'anonn', did you mean 'anon'?");
  CHECK(reader.open("g", "memory.numa_stat", Keys{"X0"}).error().is(std::errc::invalid_argument));
  CHECK(reader.open("g", "cpu.max", Keys{}).error().message() == "no key of 'cpu.max' asked for");
}

TEST_CASE("a cgroup that climbs out of the tree is refused") {
  Reader reader = reader_of(v2_node());
  for (const char* cgroup : {"../cgroup/g", "/g", "g/", "g/../g"})
    CHECK(reader.open(cgroup, "cpu.max", Keys{"quota_us"}).error().is(std::errc::invalid_argument));
}

TEST_CASE("a read sees what the file holds now") {
  FakeNode node({{"cgroup/cgroup.controllers", "pids\n"}, {"cgroup/g/pids.current", "3\n"}});
  Reader reader = reader_of(node);
  Handle handle = *reader.open("g", "pids.current", Keys{"pids"});
  node.write("cgroup/g/pids.current", "4\n");
  Values values(1);
  REQUIRE(reader.read(handle, values));
  CHECK(values == Values{4});
}

TEST_CASE("a closed handle stays closed when its place is used again") {
  Reader reader = reader_of(v2_node());
  Handle first = *reader.open("g", "pids.current", Keys{"pids"});
  reader.close(first);
  reader.close(first);
  Handle second = *reader.open("g", "pids.current", Keys{"pids"});
  CHECK(first != second);
  Values values(1);
  CHECK(reader.read(first, values).error().is(std::errc::bad_file_descriptor));
  CHECK(reader.read(second, values));
  CHECK(reader.open_files() == 1);
}

TEST_CASE("room for the wrong number of values is refused") {
  Reader reader = reader_of(v2_node());
  Handle handle = *reader.open("g", "cpu.max", Keys{"quota_us", "period_us"});
  Values values(1);
  CHECK(reader.read(handle, values).error().message() == "room for 1 values, expected 2");
}

TEST_CASE("beyond the allowed descriptors files are opened for each read") {
  Reader reader = reader_of(v1_node(), 1);
  Handle kept = *reader.open("g", "pids.current", Keys{"pids"});
  Handle other = *reader.open("g", "cpu.shares", Keys{"shares"});
  CHECK(reader.use().kept_files == 1);
  Values values(1);
  REQUIRE(reader.read(other, values));
  CHECK(values == Values{2597});
  reader.close(kept);
  CHECK(reader.use().kept_files == 0);
}

TEST_CASE("a cgroup made again under the old name is gone for its old handle") {
  FakeNode node({{"cgroup/cgroup.controllers", "pids\n"}, {"cgroup/g/pids.current", "3\n"}});
  Reader reader = reader_of(node, 0);
  Handle handle = *reader.open("g", "pids.current", Keys{"pids"});
  Values values(1);
  CHECK(reader.read(handle, values));
  node.write("cgroup/g/fresh", "9\n");
  std::filesystem::rename(node.path("cgroup/g/fresh"), node.path("cgroup/g/pids.current"));
  CHECK(is_gone(reader.read(handle, values).error()));
  node.remove("cgroup/g");
  CHECK(is_gone(reader.read(handle, values).error()));
}

TEST_CASE("a process without descriptors left opens files and reports the read that fails") {
  Reader reader = reader_of(v2_node());
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = {0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  Result<Handle> handle = reader.open("g", "pids.current", Keys{"pids"});
  Values values(1);
  Result<Time> starved = handle ? reader.read(*handle, values) : Time();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(handle);
  CHECK(starved.error().is(std::errc::too_many_files_open));
  REQUIRE(reader.read(*handle, values));
  CHECK(values == Values{3});
}

TEST_CASE("a text beyond the usual size is read whole") {
  std::string text = "filler 0\n";
  while (text.size() < 100'000) text += "filler_" + std::to_string(text.size()) + " 1\n";
  FakeNode node({{"cgroup/cgroup.controllers", "memory\n"}, {"cgroup/g/memory.stat", text + "anon 7\n"}});
  Reader reader = reader_of(node);
  CHECK(*read_once(reader, "g", "memory.stat", {"anon"}) == Values{7});
}
