// SPDX-License-Identifier: Apache-2.0
// Block latency on the real kernel, from each source: on a separate loop device the requests, bytes and time must equal
// the values of the test.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "core/base/unique_fd.hpp"
#include "plugins/advisor-block-latency/block_latency_probe.hpp"
#include "test/support/child_process.hpp"
#include "test/support/loop_disk.hpp"
#include "test/support/must.hpp"
#include "test/support/now_ns.hpp"
#include "test/support/real_cgroup.hpp"
#include "test/support/run_with_cgroups.hpp"

namespace {

using koord::UniqueFd;
using koord::block_latency::BlockLatencyProbe;
using koord::block_latency::BlockOptions;
using koord::block_latency::Device;
using koord::block_latency::Operation;
using koord::block_latency::OperationTotals;
using koord::block_latency::Reading;
using koord::block_latency::Requests;
using koord::block_latency::Windows;
using koord::latency::CgroupTree;
using koord::test::ChildProcess;
using koord::test::LoopDisk;
using koord::test::must;
using koord::test::now_ns;
using koord::test::RealCgroup;

constexpr std::size_t kBlock = 4096;
constexpr std::uint64_t kRequests = 300;
constexpr std::uint64_t kDiskSize = 4 << 20;
constexpr auto kPatience = std::chrono::seconds(60);

CgroupTree real_tree() { return must(CgroupTree::find("blkio", "/sys/fs/cgroup", "/proc")); }
std::uint64_t id_of(const RealCgroup& cgroup) { return must(real_tree().directory(cgroup.dir())).id; }

// Transfers without the page cache, with one request per block.
void transfer(const LoopDisk& disk, int flags, std::uint64_t blocks) {
  const UniqueFd fd(::open(disk.path().c_str(), flags | O_DIRECT | O_CLOEXEC));
  if (!fd) ::_exit(1);
  void* buffer = std::aligned_alloc(kBlock, kBlock);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const off_t at = static_cast<off_t>(i * kBlock % kDiskSize);
    const ssize_t n =
        flags == O_RDONLY ? ::pread(fd.get(), buffer, kBlock, at) : ::pwrite(fd.get(), buffer, kBlock, at);
    if (n != static_cast<ssize_t>(kBlock)) ::_exit(1);
  }
}

struct Own {
  std::atomic<std::uint64_t> elapsed_ns{0};
};

// Runs the work as a process in the cgroup. Returns how long it took there.
std::uint64_t elapsed_in(const RealCgroup& cgroup, const std::function<void()>& work) {
  void* memory = ::mmap(nullptr, sizeof(Own), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  Own* own = new (memory) Own;
  ChildProcess process([&] {
    cgroup.add_process(::getpid());
    const std::uint64_t begin = now_ns();
    work();
    own->elapsed_ns = now_ns() - begin;
  });
  const bool done = process.wait(kPatience) == 0;
  const std::uint64_t elapsed = own->elapsed_ns;
  ::munmap(memory, sizeof(Own));
  REQUIRE(done);
  return elapsed;
}

// A disk and a probe. If the disk or the probe is unavailable, prints a line and leaves it empty.
struct BlockLatencyFixture {
  explicit BlockLatencyFixture(std::string_view source, std::uint32_t slots = 0) : disk(LoopDisk::attach(kDiskSize)) {
    BlockOptions options;
    options.only = source;
    options.slots = slots;
    auto opened = BlockLatencyProbe::open(real_tree(), options);
    if (opened) probe = std::move(*opened);
    if (opened) return;
    // A kernel without BTF is skipped. Every other kernel must accept the programs.
    if (::access("/sys/kernel/btf/vmlinux", R_OK) == 0) throw std::runtime_error(opened.error().message());
    std::printf("SKIPPED: %s\n", opened.error().message().c_str());
  }
  bool works() const { return disk && probe; }
  void advance() { windows.advance(must(probe->read())); }
  OperationTotals on_disk(const RealCgroup& cgroup, Operation operation) const {
    return on_disk(windows.of(id_of(cgroup)), operation);
  }
  OperationTotals on_disk(const Requests& requests, Operation operation) const {
    const dev_t number = disk->number();
    const auto found = requests.devices.find({major(number) << 20 | minor(number)});
    return found == requests.devices.end() ? OperationTotals{} : found->second.of(operation);
  }
  // Reads block by block until exactly one is counted for the cgroup. The kernel charges the parent cgroup until it can
  // allocate its data for a new cgroup and a disk (blkg_lookup_create, GFP_NOWAIT).
  bool comes_to_know(const RealCgroup& cgroup) {
    for (int attempt = 0; attempt < 10; ++attempt) {
      elapsed_in(cgroup, [&] { transfer(*disk, O_RDONLY, 1); });
      advance();
      const std::uint64_t requests = on_disk(cgroup, Operation::read).requests;
      if (requests > 0) return requests == 1;
    }
    return false;
  }

  std::unique_ptr<LoopDisk> disk;
  std::optional<BlockLatencyProbe> probe;
  Windows windows;
};

void check_known_answer(std::string_view source) {
  BlockLatencyFixture fixture(source);
  if (!fixture.works()) return;
  RealCgroup reading("reading"), writing("writing"), idle("idle");
  fixture.advance();
  const std::uint64_t read_ns = elapsed_in(reading, [&] { transfer(*fixture.disk, O_RDONLY, kRequests); });
  const std::uint64_t write_ns = elapsed_in(writing, [&] { transfer(*fixture.disk, O_WRONLY, 2 * kRequests); });
  fixture.advance();
  const OperationTotals read = fixture.on_disk(reading, Operation::read);
  const OperationTotals written = fixture.on_disk(writing, Operation::write);
  INFO("read ", read.device_ns, " + ", read.queue_ns, " of ", read_ns, " ns, written ", written.device_ns, " + ",
       written.queue_ns, " of ", write_ns);
  CHECK(read.requests == kRequests);
  CHECK(read.bytes == kRequests * kBlock);
  CHECK(read.device_ns > 0);
  CHECK(read.device_ns + read.queue_ns <= read_ns);  // the two follow each other
  CHECK(written.requests == 2 * kRequests);
  CHECK(written.bytes == 2 * kRequests * kBlock);
  CHECK(written.device_ns + written.queue_ns <= write_ns);
  CHECK(fixture.on_disk(reading, Operation::write).requests == 0);
  CHECK(fixture.windows.of(id_of(reading)).latency_of(Operation::read).count >= kRequests);
  CHECK(fixture.windows.of(id_of(idle)) == Requests{});
  CHECK(fixture.on_disk(*fixture.windows.node(), Operation::read).requests >= kRequests);
}

void check_reuse(std::string_view source) {
  BlockLatencyFixture fixture(source);
  if (!fixture.works()) return;
  RealCgroup container("short");
  const std::uint64_t id = id_of(container);
  elapsed_in(container, [&] { transfer(*fixture.disk, O_RDONLY, kRequests); });
  container.remove();
  const Reading removed = must(fixture.probe->read());
  const auto is_it = [id](const auto& cgroup) { return cgroup.cgroup == id; };
  REQUIRE(std::count_if(removed.ended.begin(), removed.ended.end(), is_it) == 1);
  const auto last = std::find_if(removed.ended.begin(), removed.ended.end(), is_it);
  CHECK(fixture.on_disk(last->total, Operation::read).requests == kRequests);
  const Reading after = must(fixture.probe->read());
  CHECK(std::none_of(after.ended.begin(), after.ended.end(), is_it));
  CHECK(std::none_of(after.cgroups.begin(), after.cgroups.end(), is_it));
}

}  // namespace

TEST_CASE("btf_tracepoint counts the requests, bytes and time of the cgroup that reads or writes, to the request") {
  check_known_answer("btf_tracepoint");
}

TEST_CASE("raw_tracepoint counts the requests, bytes and time of the cgroup that reads or writes, to the request") {
  check_known_answer("raw_tracepoint");
}

TEST_CASE("a removed cgroup is reported once with its last totals, from btf_tracepoint") {
  check_reuse("btf_tracepoint");
}

TEST_CASE("a removed cgroup is reported once with its last totals, from raw_tracepoint") {
  check_reuse("raw_tracepoint");
}

TEST_CASE("the next cgroup gets a slot without the totals of the last cgroup") {
  BlockLatencyFixture fixture("btf_tracepoint", 16);
  if (!fixture.works()) return;
  for (int i = 0; i < 40; ++i) {
    RealCgroup container("churn");
    REQUIRE(fixture.comes_to_know(container));
    const Reading before = must(fixture.probe->read());
    fixture.windows.advance(before);
    const std::uint64_t lost = before.lost_begins + before.missed_events;
    elapsed_in(container, [&] { transfer(*fixture.disk, O_RDONLY, 3); });
    const Reading reading = must(fixture.probe->read());
    fixture.windows.advance(reading);
    // A request that the program did not see counts as missed.
    const std::uint64_t missed = reading.lost_begins + reading.missed_events - lost;
    const std::uint64_t requests = fixture.on_disk(container, Operation::read).requests;
    CHECK(requests <= 3);
    CHECK(requests + missed >= 3);
  }
}

TEST_CASE("requests for which no slot was free are the node's, and counted") {
  BlockLatencyFixture fixture("btf_tracepoint", 2);  // one slot is for unassigned requests
  if (!fixture.works()) return;
  RealCgroup first("first"), second("second");
  for (const RealCgroup* cgroup : {&first, &second})
    elapsed_in(*cgroup, [&] { transfer(*fixture.disk, O_RDONLY, kRequests); });
  const Reading reading = must(fixture.probe->read());
  CHECK(reading.slots_used == 1);
  CHECK(reading.unassigned->latency_of(Operation::read).count >= kRequests);
  fixture.windows.advance(reading);
  CHECK(fixture.on_disk(*fixture.windows.node(), Operation::read).requests >= 2 * kRequests);
}

TEST_CASE("a flush belongs to the device and to no cgroup, and its request is not taken for a lost one") {
  BlockLatencyFixture fixture("btf_tracepoint");
  if (!fixture.works()) return;
  RealCgroup syncing("syncing");
  fixture.advance();
  const std::uint64_t lost = must(fixture.probe->read()).lost_begins;
  elapsed_in(syncing, [&] {
    transfer(*fixture.disk, O_WRONLY, 1);
    transfer(*fixture.disk, O_WRONLY | O_SYNC, 5);
  });
  const Reading reading = must(fixture.probe->read());
  CHECK(reading.lost_begins == lost);
  CHECK(fixture.on_disk(*reading.unassigned, Operation::other).requests >= 5);
  CHECK(fixture.on_disk(*reading.unassigned, Operation::other).bytes == 0);
}

TEST_CASE("a source that the kernel refuses is an error with the reason in it") {
  BlockOptions options;
  options.btf = "/dev/null";
  options.only = "btf_tracepoint";
  auto opened = BlockLatencyProbe::open(real_tree(), options);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message().find("btf_tracepoint: ") != std::string::npos);
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
