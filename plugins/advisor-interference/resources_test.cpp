// SPDX-License-Identifier: Apache-2.0
// Tests of block I/O and memory.
#include <doctest/doctest.h>

#include <string>

#include "plugins/advisor-interference/block_windows.hpp"
#include "plugins/advisor-interference/memory_windows.hpp"
#include "plugins/advisor-interference/resource_text.hpp"
#include "test/support/fake_node.hpp"

using namespace koord;
using namespace koord::interference;
using analysis::IoStream;
using analysis::IoSubject;
using analysis::MemoryLimit;
using analysis::MemorySubject;
using analysis::SuspectKind;
using test::FakeNode;

namespace {

constexpr std::uint64_t kDb = 1, kEtl = 2;
constexpr std::uint64_t kDbCgroup = 101, kDbChild = 102, kEtlCgroup = 201, kSystemCgroup = 301;
constexpr std::uint32_t kDisk = 254 << 20;
const ContainerOfCgroup kOwners = {{kDbCgroup, kDb}, {kDbChild, kDb}, {kEtlCgroup, kEtl}};
const std::vector<KnownContainer> kKnown = {{kDb, "shop/db", "pods/db/app"}, {kEtl, "batch/etl", "pods/etl/main"}};

BlockStream stream(std::uint64_t cgroup, Direction direction, std::uint64_t n, std::uint64_t each_ns) {
  BlockStream stream{.cgroup = cgroup, .device = kDisk, .direction = direction, .bytes = n * 4096};
  stream.latency = {.count = n, .sum_ns = n * each_ns};
  return stream;
}

BlockPart charged(std::uint64_t victim, std::uint64_t culprit, double requests, std::uint64_t ns) {
  return {victim, kDisk, Direction::read, culprit, requests, ns};
}

const IoLimits kNoLimits;
const IoLimits& no_limits(const KnownContainer&) { return kNoLimits; }

// Returns containers with 100 reads/s of 2 ms.
std::vector<IoSubject> reading_containers() {
  std::vector<IoSubject> io;
  for (const KnownContainer& container : kKnown)
    io.push_back({container.workload,
                  {.subject = container.handle, .streams = {{.device = kDisk, .requests = 1000, .mean = 0.002}}}});
  return io;
}

// A node on which the etl container streams data and the db container has refaults.
struct MemoryFixture {
  MemoryFixture() { write(0, 0, 0, 0); }

  void write(int refaults, int own, int above, int stolen) {
    node.write("proc/vmstat", "workingset_refault_anon 0\nworkingset_refault_file " + std::to_string(refaults) +
                                  "\npgsteal_kswapd " + std::to_string(stolen) + "\npgsteal_direct 0\n");
    const std::string stat = "cache 1\ntotal_workingset_refault_anon 0\ntotal_workingset_refault_file ";
    node.write("cgroup/memory/pods/db/app/memory.stat", stat + std::to_string(refaults) + "\n");
    node.write("cgroup/memory/pods/etl/main/memory.stat", stat + "0\n");
    node.write("cgroup/memory/pods/db/app/memory.failcnt", std::to_string(own) + "\n");
    node.write("cgroup/memory/pods/memory.failcnt", std::to_string(above) + "\n");
  }
  MemorySubject next() {
    return windows.next(kKnown, reading_containers(), {{kEtl, {.at_limit = 3000, .on_node = 7000}}}, 1)[0];
  }

  FakeNode node{{{"cgroup/memory/pods/db/app/memory.usage_in_bytes", "100000\n"},
                 {"cgroup/memory/pods/etl/main/memory.usage_in_bytes", "300000\n"},
                 {"cgroup/memory/pods/db/memory.failcnt", "0\n"},
                 {"cgroup/cpu/tasks", ""}}};
  MemoryWindows windows{*cgroup::Layout::detect(node.roots()), node.roots().proc};
};

}  // namespace

TEST_CASE("the streams of a container's cgroups are summed, and requests are charged to containers or outside") {
  BlockReading reading;
  reading.streams = {stream(kDbCgroup, Direction::read, 300, 1'000'000),
                     stream(kDbChild, Direction::read, 100, 3'000'000),
                     stream(kEtlCgroup, Direction::write, 1000, 9'000'000)};
  reading.parts = {charged(kDbCgroup, kEtlCgroup, 200, 200'000'000),
                   charged(kDbChild, kEtlCgroup, 50, 150'000'000),
                   charged(kDbCgroup, kDbChild, 10, 10'000'000),
                   charged(kDbCgroup, kSystemCgroup, 20, 30'000'000),
                   charged(kDbCgroup, 0, 5, 5'000'000),
                   charged(kSystemCgroup, kEtlCgroup, 5, 5'000'000)};
  const std::vector<IoSubject> subjects = io_subjects(kKnown, reading, kOwners, 2, no_limits);
  REQUIRE(subjects.size() == 2);
  REQUIRE(subjects[0].window.streams.size() == 1);
  const IoStream& read = subjects[0].window.streams[0];
  CHECK(read.requests == doctest::Approx(200));
  CHECK(read.mean == doctest::Approx(0.0015));
  CHECK(read.own.requests == doctest::Approx(5));
  CHECK(read.unexplained.requests == doctest::Approx(2.5));
  REQUIRE(read.others.size() == 2);
  CHECK(read.others[0].subject == kEtl);
  CHECK(read.others[0].requests == doctest::Approx(125));
  CHECK(read.others[0].seconds == doctest::Approx(0.175));
  CHECK(read.others[0].usage == doctest::Approx(1000 * 4096 / 2));
  CHECK(read.others[1].kind == SuspectKind::outside);
  CHECK(subjects[1].window.streams[0].is_write);
}

TEST_CASE("a container uses a share of its own limit, in bytes or requests") {
  BlockReading reading;
  reading.streams = {stream(kDbCgroup, Direction::read, 100, 1'000'000)};
  for (const auto& [text, used] : {std::pair{"254:0 rbps=819200 wbps=max riops=max wiops=max", 0.5},
                                   {"254:0 rbps=max wbps=1 riops=125 wiops=1", 0.8},
                                   {"8:0 rbps=1 wbps=1 riops=1 wiops=1", 0.0}}) {
    CAPTURE(std::string(text));
    const IoLimits limits = parse_io_max(text);
    const auto subjects =
        io_subjects(kKnown, reading, kOwners, 1, [&](const KnownContainer&) -> const IoLimits& { return limits; });
    CHECK(subjects[0].window.limit_used == doctest::Approx(used));
  }
}

TEST_CASE("limits are read in the formats of both versions, and lines in another format are left out") {
  CHECK(parse_io_max("254:0 rbps=1 wbps=max riops=3 wiops=4\n").at(kDisk) == IoLimit{1, 0, 3, 4});
  for (const char* text :
       {"", "\n", "254:0\n", "x:0 rbps=1\n", "254 rbps=1\n", "254:0 rbps\n", "254:0 rbps=-1\n", "5000:0 rbps=1\n"})
    CHECK(parse_io_max(text).empty());
  IoLimits limits;
  parse_throttle_file("254:0 1048576\n8:16 max\n8:32\n", &IoLimit::writes, limits);
  CHECK(limits == IoLimits{{kDisk, {0, 0, 0, 1048576}}});
  FakeNode node({{"cgroup/blkio/pods/db/app/blkio.throttle.read_bps_device", "254:0 4096\n"},
                 {"cgroup/blkio/pods/db/app/blkio.throttle.write_iops_device", "254:0 7\n"},
                 {"cgroup/cpu/tasks", ""}});
  CHECK(read_io_limits(*cgroup::Layout::detect(node.roots()), "pods/db/app") == IoLimits{{kDisk, {4096, 0, 0, 7}}});
}

TEST_CASE("the cost of refaults comes from the container's reads, and is at most the time of all reads") {
  MemoryFixture fixture;
  fixture.next();
  fixture.write(100, 0, 0, 0);
  CHECK(fixture.next().window.refaults == 0);  // the first window in which the files are read
  fixture.write(200, 0, 0, 0);
  const MemorySubject few = fixture.next();
  CHECK(few.window.refaults == 100);
  CHECK(analysis::refault_time_of(few.window) == doctest::Approx(0.2));
  CHECK(few.window.limit == MemoryLimit::none);
  fixture.write(100'200, 0, 0, 0);
  CHECK(analysis::refault_time_of(fixture.next().window) == doctest::Approx(2));
}

TEST_CASE("a limit may be the container's own, that of a cgroup above it, or the node's") {
  MemoryFixture fixture;
  fixture.next();
  fixture.write(100, 0, 0, 0);
  fixture.next();
  SUBCASE("own") {
    fixture.write(200, 5, 9, 9);
    CHECK(fixture.next().window.limit == MemoryLimit::own);
  }
  SUBCASE("ancestor") {
    fixture.write(200, 0, 9, 9);
    const MemorySubject subject = fixture.next();
    CHECK(subject.window.limit == MemoryLimit::ancestor);
    REQUIRE(subject.window.sharers.size() == 2);
    CHECK(subject.window.sharers[1].reclaimed == 3000);
    CHECK(subject.window.sharers[1].share == doctest::Approx(0.75));
  }
  SUBCASE("node") {
    fixture.write(200, 0, 0, 9);
    const MemorySubject subject = fixture.next();
    CHECK(subject.window.limit == MemoryLimit::node);
    REQUIRE(subject.window.sharers.size() == 3);
    CHECK(subject.window.sharers[1].reclaimed == 7000);
    CHECK(subject.window.sharers[2].kind == SuspectKind::outside);
  }
}

TEST_CASE("statistics of block I/O and memory are shown with their limits") {
  CHECK(figure_of_resource({"read_latency", 0.0012, 0.0003, 0.0008}) ==
        "reads take 1.2 ms (quiet 0.3 ms, limit 0.8 ms)");
  CHECK(figure_of_resource({"write_latency_p99", 0.012, 0.003, 0.0045}) ==
        "1 % of the writes take at least 12 ms (quiet 3.0 ms, limit 4.5 ms)");
  CHECK(figure_of_resource({"io_limit_used", 0.99, 0, 0.95}) ==
        "it uses 99 % of its own limit of block I/O (limit 95 %)");
  CHECK(figure_of_resource({"refault_time", 0.040, 0, 0.010}) ==
        "reading pages again takes 40 ms/s (quiet 0.0 ms/s, limit 10 ms/s)");
  CHECK(figure_of_resource({"held_up", 0.04, 0, 0.01}).empty());
}
