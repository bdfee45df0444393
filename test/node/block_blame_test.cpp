// SPDX-License-Identifier: Apache-2.0
// Blame for requests that wait for requests of other cgroups, on the real kernel, in situations with a known answer.
#include <bpf/bpf.h>

#include "bpf/include/latency_slots.h"

#include "bpf/block_blame/block_blame.h"
#include "test/node/blocking_workloads.hpp"

using namespace koord::test;
using koord::interference::BlockPart;
using koord::interference::BlockStream;
using koord::interference::Direction;

namespace {

// Returns the time above `quiet_us` that this part of the requests adds, per request of the victim.
double excess_us(const BlockPart& part, double quiet_us, const BlockStream& victim) {
  return (double(part.ns) / 1000 - part.requests * quiet_us) / double(victim.latency.count);
}

// Returns a BPF map that this process has created.
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

// Returns the cgroup's slot; 0 if it has no slot.
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

// Adds this many requests in flight of a cgroup, as the programs do. The device must be idle.
void count_in_flight(dev_t device, std::uint64_t slot, std::uint64_t n) {
  block_blame_device counts = entries_of(device);
  counts.entries[BLOCK_BLAME_CGROUPS - 1] = slot << 32 | n;
  set_entries(device, counts);
}
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
  // The kernel skips a program that would interrupt itself.
  CHECK(double(own.latency.count) >= 0.98 * 8 * kReads);
  CHECK(own.latency.count <= 8 * kReads);
  CHECK(own.own_requests > 0.05 * 8 * kReads);
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
  // With pauses the test takes seconds, in which the scheduler treats all cgroups equally.
  victim.run([&] { transfer(file.path, O_RDONLY, kBlock, kReads, {0, 1'000'000}); });
  observed.read();
  const BlockStream all = observed.of(victim, Direction::read);
  const BlockPart by_large = observed.by(victim, &large, Direction::read);
  const BlockPart by_small = observed.by(victim, &small, Direction::read);
  const BlockPart by_all = observed.by(victim, nullptr, Direction::read);
  MESSAGE("blame " << by_large.requests / by_small.requests << " : 1, in time "
                   << double(by_large.ns) / double(by_small.ns) << " : 1");
  CHECK(by_large.requests > by_small.requests);
  // A request that met only requests of its own cgroup also has a part for its own cgroup.
  const double known = by_all.requests + double(all.alone_requests);
  CHECK(known <= 1.001 * double(all.latency.count));
  CHECK(known + all.own_requests >= 0.99 * double(all.latency.count));
  CHECK(all.latency.count <= kReads);
  CHECK(double(all.latency.count) >= 0.9 * kReads);
  CHECK(by_all.ns <= all.latency.sum_ns);
  CHECK(by_all.requests >= by_large.requests + by_small.requests);  // other programs on the machine use the disk, too
}

TEST_CASE("a bulk writer is blamed with what it adds to the latency of a reader, a small stream with nearly nothing") {
  const DiskFile file;
  if (!file.is_on_disk()) return;
  Workload victim("victim"), bulk("bulk"), stream("stream");
  stream.start(1, [&] { transfer(file.path, O_WRONLY, kBlock, -1, {0, 20'000'000}); });
  Observed observed(file.device);
  // In rounds, so other load on the disk affects both.
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
    // Subtracts the delay that other programs on the machine cause.
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
  count_in_flight(disk->number(), slot, 3);  // same state as if their completions had been missed
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
  // Repeats this, so some requests are in flight.
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
  if (auto blame = koord::interference::BlockBlame::open(real_tree()); !blame) {
    std::printf("SKIPPED: %s\n", blame.error().message().c_str());
    return koord::test::kSkip;
  }
  return doctest::Context(argc, argv).run();
}
