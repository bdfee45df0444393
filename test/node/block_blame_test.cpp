// SPDX-License-Identifier: Apache-2.0
// Blame for waits behind requests of others on the real kernel, in situations in which the answer is known.
#include <bpf/bpf.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bpf/include/latency_slots.h"

#include "bpf/block_blame/block_blame.h"
#include "core/base/unique_fd.hpp"
#include "plugins/advisor-interference/block_blame.hpp"
#include "test/support/child_process.hpp"
#include "test/support/loop_disk.hpp"
#include "test/support/real_cgroup.hpp"

namespace {

using koord::UniqueFd;
using koord::interference::BlockBlame;
using koord::interference::BlockPart;
using koord::interference::BlockReading;
using koord::interference::BlockStream;
using koord::interference::Direction;
using koord::latency::CgroupTree;
using koord::test::ChildProcess;
using koord::test::eventually;
using koord::test::LoopDisk;
using koord::test::RealCgroup;

constexpr std::size_t kBlock = 4096, kBulk = 64 << 10;
constexpr std::uint64_t kDiskSize = 32 << 20;
constexpr int kReads = 2000;

template <class T>
T must(koord::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(result).value();
}

CgroupTree real_tree() { return must(CgroupTree::find("blkio", "/sys/fs/cgroup", "/proc")); }

// Bypasses the page cache, one request for each block.
void transfer(const std::string& path, int flags, std::size_t block, int n, timespec pause = {}) {
  const UniqueFd fd(::open(path.c_str(), flags | O_DIRECT | O_CLOEXEC));
  void* buffer = std::aligned_alloc(kBlock, block);
  if (!fd || !buffer) ::_exit(1);
  for (int i = 0; n < 0 || i < n; ++i) {
    const off_t at = static_cast<off_t>(static_cast<std::uint64_t>(i) * 7 * block % kDiskSize);
    const ssize_t done =
        flags == O_RDONLY ? ::pread(fd.get(), buffer, block, at) : ::pwrite(fd.get(), buffer, block, at);
    if (done != static_cast<ssize_t>(block)) ::_exit(1);
    if (pause.tv_nsec > 0) ::nanosleep(&pause, nullptr);
  }
  std::free(buffer);
}

// A cgroup with processes that transfer blocks.
struct Workload {
  explicit Workload(const std::string& name) : cgroup(name), id(must(real_tree().directory(cgroup.dir())).id) {}

  void start(int threads, const std::function<void()>& body) {
    processes.push_back(std::make_unique<ChildProcess>([this, threads, body] {
      cgroup.add_process(::getpid());
      std::vector<std::thread> all;
      for (int i = 0; i < threads; ++i) all.emplace_back(body);
      for (std::thread& one : all) one.join();
    }));
  }
  void run(const std::function<void()>& body) {
    start(1, body);
    const bool done = processes.back()->wait(std::chrono::seconds(60)) == 0;
    processes.pop_back();
    REQUIRE(done);
  }

  RealCgroup cgroup;
  std::uint64_t id;
  std::vector<std::unique_ptr<ChildProcess>> processes;
};

// All that was read since the begin.
class Observed {
 public:
  explicit Observed(dev_t device) : device_(number_of(device)), blame_(must(BlockBlame::open(real_tree()))) {}

  void read() {
    BlockReading reading = must(blame_.read());
    for (const BlockStream& stream : reading.streams) streams_.push_back(stream);
    for (const BlockPart& part : reading.parts) parts_.push_back(part);
  }
  void forget() {
    read();
    streams_.clear();
    parts_.clear();
  }
  BlockStream of(const Workload& workload, Direction direction) const {
    BlockStream sum;
    for (const BlockStream& one : streams_) {
      if (one.cgroup != workload.id || one.device != device_ || one.direction != direction) continue;
      sum.latency += one.latency;
      sum.bytes += one.bytes;
      sum.alone_requests += one.alone_requests;
      sum.alone_ns += one.alone_ns;
      sum.own_requests += one.own_requests;
      sum.own_ns += one.own_ns;
    }
    return sum;
  }
  // Null: all culprits.
  BlockPart by(const Workload& victim, const Workload* culprit, Direction direction) const {
    return culprit ? by(victim, std::optional(culprit->id), direction) : by(victim, std::nullopt, direction);
  }
  BlockPart by(const Workload& victim, std::optional<std::uint64_t> culprit, Direction direction) const {
    BlockPart sum;
    for (const BlockPart& one : parts_) {
      if (one.victim != victim.id || one.device != device_ || one.direction != direction) continue;
      if (culprit && one.culprit != *culprit) continue;
      sum.requests += one.requests;
      sum.ns += one.ns;
    }
    return sum;
  }

 private:
  static std::uint32_t number_of(dev_t device) { return major(device) << 20 | minor(device); }

  std::uint32_t device_;
  BlockBlame blame_;
  std::vector<BlockStream> streams_;
  std::vector<BlockPart> parts_;
};

double mean_us(const BlockStream& stream) {
  return double(stream.latency.sum_ns) / 1000 / double(std::max<std::uint64_t>(1, stream.latency.count));
}

// The time over `quiet_us` in parts of requests, for each of the victim's requests.
double excess_us(const BlockPart& part, double quiet_us, const BlockStream& victim) {
  return (double(part.ns) / 1000 - part.requests * quiet_us) / double(victim.latency.count);
}

// A map of the programs that this process has loaded.
int map_of_programs(const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    bpf_map_info info{};
    std::uint32_t size = sizeof info;
    if (std::filesystem::read_symlink(entry.path()) == "anon_inode:bpf-map" &&
        bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.name == name)
      return fd;
  }
  throw std::runtime_error("the programs have no map " + name);
}

// 0: none.
std::uint32_t slot_of(const Workload& workload) {
  std::uint32_t slot = 0;
  bpf_map_lookup_elem(map_of_programs("cgroup_slots"), &workload.id, &slot);
  return slot;
}

std::uint64_t owner_of(std::uint32_t slot) {
  std::uint64_t cgroup = 0;
  bpf_map_lookup_elem(map_of_programs("slot_owners"), &slot, &cgroup);
  return cgroup;
}

block_blame_device entries_of(dev_t device) {
  const std::uint32_t number = major(device) << 20 | minor(device);
  block_blame_device counts{};
  REQUIRE(bpf_map_lookup_elem(map_of_programs("devices"), &number, &counts) == 0);
  return counts;
}

void set_entries(dev_t device, const block_blame_device& counts) {
  const std::uint32_t number = major(device) << 20 | minor(device);
  REQUIRE(bpf_map_update_elem(map_of_programs("devices"), &number, &counts, BPF_EXIST) == 0);
}

// Enters so many requests in flight of a cgroup, as the programs do; the device must be idle.
void count_in_flight(dev_t device, std::uint64_t slot, std::uint64_t n) {
  block_blame_device counts = entries_of(device);
  counts.entries[BLOCK_BLAME_CGROUPS - 1] = slot << 32 | n;
  set_entries(device, counts);
}

// A file on a disk of this machine, with its device; nothing where no disk holds files.
struct DiskFile {
  DiskFile() {
    path = "/var/tmp/koord-test-blame-" + std::to_string(::getpid());
    const UniqueFd fd(::open(path.c_str(), O_CREAT | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || major(status.st_dev) == 0) return;
    device = status.st_dev;
    std::unique_ptr<void, decltype(&std::free)> block(std::aligned_alloc(kBlock, kBulk), &std::free);
    std::memset(block.get(), 1, kBulk);  // unwritten parts of a file are read without the disk
    for (std::uint64_t at = 0; at < kDiskSize; at += kBulk)
      if (::pwrite(fd.get(), block.get(), kBulk, static_cast<off_t>(at)) != static_cast<ssize_t>(kBulk)) device = 0;
  }
  ~DiskFile() { ::unlink(path.c_str()); }
  bool is_on_disk() const {
    if (device == 0) std::printf("SKIPPED: no disk holds /var/tmp\n");
    return device != 0;
  }
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;

  std::string path;
  dev_t device = 0;
};

}  // namespace

TEST_CASE("requests that find the device idle are charged to no other, and those of one cgroup to itself") {
  const auto disk = LoopDisk::attach(kDiskSize);
  if (!disk) return;
  Workload single("single"), crowd("crowd");
  Observed observed(disk->number());
  single.run([&] { transfer(disk->path(), O_RDONLY, kBlock, kReads); });
  observed.read();
  const BlockStream alone = observed.of(single, Direction::read);
  CHECK(alone.latency.count == kReads);
  CHECK(alone.bytes == kReads * kBlock);
  CHECK(alone.alone_requests == kReads);
  CHECK(alone.alone_ns == alone.latency.sum_ns);
  CHECK(alone.own_requests == 0);
  CHECK(observed.by(single, nullptr, Direction::read).requests == 0);
  crowd.start(8, [&] { transfer(disk->path(), O_RDONLY, kBlock, kReads); });
  REQUIRE(crowd.processes[0]->wait(std::chrono::seconds(60)) == 0);
  observed.read();
  const BlockStream own = observed.of(crowd, Direction::read);
  MESSAGE("own " << own.own_requests << " of " << own.latency.count);
  // The kernel leaves a program out that would interrupt itself.
  CHECK(double(own.latency.count) >= 0.98 * 8 * kReads);
  CHECK(own.latency.count <= 8 * kReads);
  CHECK(own.own_requests > 0.2 * 8 * kReads);
  CHECK(own.own_requests <= 8 * kReads);
  CHECK(own.alone_requests == own.latency.count);
  CHECK(observed.by(crowd, nullptr, Direction::read).requests == 0);
}

TEST_CASE("a writer with more requests in flight is charged with more than another, and all parts add up") {
  const DiskFile file;
  if (!file.is_on_disk()) return;
  Workload victim("victim"), large("large"), small("small");
  Observed observed(file.device);
  large.start(12, [&] { transfer(file.path, O_WRONLY, kBulk, -1); });
  small.start(4, [&] { transfer(file.path, O_WRONLY, kBulk, -1); });
  REQUIRE(eventually([&] {
    observed.read();
    return observed.of(small, Direction::write).latency.count > 100;
  }));
  observed.forget();
  // With pauses: seconds, in which the scheduler treats all alike.
  victim.run([&] { transfer(file.path, O_RDONLY, kBlock, kReads, {0, 1'000'000}); });
  observed.read();
  const BlockStream all = observed.of(victim, Direction::read);
  const BlockPart by_large = observed.by(victim, &large, Direction::read);
  const BlockPart by_small = observed.by(victim, &small, Direction::read);
  const BlockPart by_all = observed.by(victim, nullptr, Direction::read);
  MESSAGE("blame " << by_large.requests / by_small.requests << " : 1, in time "
                   << double(by_large.ns) / double(by_small.ns) << " : 1");
  CHECK(by_large.requests > by_small.requests);
  // One that meets only requests of its own cgroup has an own part, too.
  const double known = by_all.requests + double(all.alone_requests);
  CHECK(known <= 1.001 * double(all.latency.count));
  CHECK(known + all.own_requests >= 0.99 * double(all.latency.count));
  CHECK(all.latency.count <= kReads);
  CHECK(double(all.latency.count) >= 0.9 * kReads);
  CHECK(by_all.ns <= all.latency.sum_ns);
  CHECK(by_all.requests >= by_large.requests + by_small.requests);  // others of the machine use the disk, too
}

TEST_CASE("a bulk writer is blamed with what it adds to the latency of a reader, a small stream with nearly nothing") {
  const DiskFile file;
  if (!file.is_on_disk()) return;
  Workload victim("victim"), bulk("bulk"), stream("stream");
  stream.start(1, [&] { transfer(file.path, O_WRONLY, kBlock, -1, {0, 20'000'000}); });
  Observed observed(file.device);
  // Rounds, so that what others do to the disk meanwhile counts for both.
  std::vector<double> shares, small_shares;
  for (int round = 0; round < 7; ++round) {
    observed.forget();
    victim.run([&] { transfer(file.path, O_RDONLY, kBlock, kReads); });
    observed.read();
    const double quiet = mean_us(observed.of(victim, Direction::read));
    bulk.start(16, [&] { transfer(file.path, O_WRONLY, kBulk, -1); });
    REQUIRE(eventually([&] {
      observed.read();
      return observed.of(bulk, Direction::write).latency.count > 100;
    }));
    observed.forget();
    victim.run([&] { transfer(file.path, O_RDONLY, kBlock, kReads); });
    observed.read();
    bulk.processes.clear();
    const BlockStream harmed = observed.of(victim, Direction::read);
    const double blamed = excess_us(observed.by(victim, &bulk, Direction::read), quiet, harmed);
    const double small = excess_us(observed.by(victim, &stream, Direction::read), quiet, harmed);
    // Without what others of the machine add meanwhile.
    const double others = excess_us(observed.by(victim, nullptr, Direction::read), quiet, harmed) - blamed - small;
    const double truth = mean_us(harmed) - quiet - others;
    MESSAGE("quiet " << quiet << " us, true excess " << truth << " us, bulk " << blamed << " us, small " << small
                     << " us");
    shares.push_back(blamed / truth);
    small_shares.push_back(small / truth);
  }
  std::sort(shares.begin(), shares.end());
  std::sort(small_shares.begin(), small_shares.end());
  CHECK(shares[3] == doctest::Approx(1).epsilon(0.15));
  CHECK(small_shares[3] <= 0.05);
}

TEST_CASE("a cgroup does not inherit requests in flight from one that has ended: its slot waits until they are over") {
  const auto disk = LoopDisk::attach(kDiskSize);
  if (!disk) return;
  const auto read_once = [&] { transfer(disk->path(), O_RDONLY, kBlock, 1); };
  Observed observed(disk->number());
  auto ended = std::make_unique<Workload>("ended");
  ended->run(read_once);
  const std::uint32_t slot = slot_of(*ended);
  const std::uint64_t ended_id = ended->id;
  REQUIRE(slot > 0);
  REQUIRE(owner_of(slot) == ended_id);
  count_in_flight(disk->number(), slot, 3);  // as if their completions had been missed
  ended.reset();
  observed.read();

  Workload fresh("fresh"), victim("victim");
  fresh.run(read_once);
  CHECK(slot_of(fresh) > 0);
  CHECK(slot_of(fresh) != slot);
  victim.run(read_once);
  observed.read();
  CHECK(observed.of(victim, Direction::read).latency.count == 1);
  CHECK(observed.by(victim, &fresh, Direction::read).requests == 0);
  constexpr std::uint64_t kNothingKnown = 0;
  CHECK(observed.by(victim, kNothingKnown, Direction::read).requests == doctest::Approx(1));

  CHECK(owner_of(slot) == ended_id);
  count_in_flight(disk->number(), slot, 0);
  observed.read();
  CHECK(owner_of(slot) != ended_id);
}

TEST_CASE("a completion for which no request is counted leaves the number at zero") {
  const auto disk = LoopDisk::attach(kDiskSize);
  if (!disk) return;
  Workload crowd("crowd");
  Observed observed(disk->number());
  crowd.run([&] { transfer(disk->path(), O_RDONLY, kBlock, 1); });
  crowd.start(8, [&] { transfer(disk->path(), O_RDONLY, kBlock, kReads); });
  // Again and again, some of them are in flight.
  for (bool is_over = false; !is_over;) {
    is_over = crowd.processes[0]->wait(std::chrono::milliseconds(1)).has_value();
    if (!is_over) set_entries(disk->number(), {});
  }
  const block_blame_device counts = entries_of(disk->number());
  for (const std::uint64_t entry : counts.entries) CHECK(static_cast<std::uint32_t>(entry) <= 8);
}

int main(int argc, char** argv) {
  if (auto why = RealCgroup::unavailable()) {
    std::printf("SKIPPED: no cgroups to measure: %s\n", why->c_str());
    return koord::test::kSkip;
  }
  if (auto blame = BlockBlame::open(real_tree()); !blame) {
    std::printf("SKIPPED: %s\n", blame.error().message().c_str());
    return koord::test::kSkip;
  }
  return doctest::Context(argc, argv).run();
}
