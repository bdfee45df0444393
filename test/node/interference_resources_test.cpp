// SPDX-License-Identifier: Apache-2.0
// The installed advisor-interference on this machine's kernel: containers that wait for block I/O or lose their memory,
// with a known culprit.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/unique_fd.hpp"
#include "test/node/real_advisor.hpp"
#include "test/support/child_process.hpp"
#include "test/support/loop_disk.hpp"

using namespace koord::test;
using namespace std::chrono_literals;
using koord::UniqueFd;

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kMiB = 1u << 20;

using Process = std::unique_ptr<ChildProcess>;

Process start_in(const RealCgroup& cgroup, const std::function<void()>& body, int threads = 1) {
  return std::make_unique<ChildProcess>([&cgroup, body, threads] {
    cgroup.add_process(::getpid());
    std::vector<std::thread> all;
    for (int i = 1; i < threads; ++i) all.emplace_back(body);
    body();
  });
}

bool collect(RealAdvisor& advisor, int windows) {
  return collect_until(advisor, [&] { return --windows <= 0; });
}

bool has_verdict(const RealAdvisor& advisor, const RealCgroup& victim, const char* resource, const char* kind) {
  return advisor.value("container_interference", victim, {{"resource", resource}, {"kind", kind}}) == 1.0;
}

// Returns the last verdict about the victim and the resource; empty if no verdict exists.
std::string verdict(RealAdvisor& advisor, const RealCgroup& victim, const std::string& resource) {
  std::string last;
  for (const auto& event : advisor.host().events())
    if (event.why.find(victim.dir() + ": ") != std::string::npos &&
        event.why.find(", " + resource) != std::string::npos)
      last = event.why;
  return last;
}

bool names_first(const std::string& verdict, const RealCgroup& culprit) {
  return verdict.find("waited for " + culprit.dir() + " ") != std::string::npos;
}

std::string sample_path() { return "/var/tmp/koord-test-interference-" + std::to_string(::getpid()); }

// Transfers one block after the other, without the page cache.
[[noreturn]] void transfer(const std::string& path, int flags, std::size_t block, std::chrono::microseconds pause) {
  constexpr std::uint64_t kSize = 32 * kMiB;
  const UniqueFd fd(::open(path.c_str(), flags | O_DIRECT | O_CLOEXEC));
  void* buffer = std::aligned_alloc(kPage, block);
  if (!fd || !buffer) ::_exit(1);
  std::memset(buffer, 1, block);
  for (std::uint64_t i = 0;; ++i) {
    const off_t at = static_cast<off_t>(i * 7 * block % kSize);
    const ssize_t n = flags == O_RDONLY ? ::pread(fd.get(), buffer, block, at) : ::pwrite(fd.get(), buffer, block, at);
    if (n != static_cast<ssize_t>(block)) ::_exit(1);
    if (pause.count() > 0) ::usleep(static_cast<useconds_t>(pause.count()));
  }
}

// Returns the mean time of 200 reads of one page, in ms, as an ordinary process measures it.
double read_ms(const std::string& path) {
  constexpr int kReads = 200;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  const std::unique_ptr<void, void (*)(void*)> buffer(std::aligned_alloc(kPage, kPage), std::free);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kReads; ++i)
    REQUIRE(::pread(fd.get(), buffer.get(), kPage, static_cast<off_t>(i * 7 * kPage)) == kPage);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / kReads;
}

bool make_disk_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || major(status.st_dev) == 0) return false;
  const std::string block(kMiB, 'x');
  for (int i = 0; i < 32; ++i)
    if (::write(fd.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size())) return false;
  return ::fsync(fd.get()) == 0;
}

// ---- memory

// Reads pages at random offsets through the page cache.
[[noreturn]] void read_at_random(const LoopDisk& disk, std::uint64_t bytes, std::chrono::microseconds pause) {
  const UniqueFd fd(::open(disk.path().c_str(), O_RDONLY | O_CLOEXEC));
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_RANDOM);
  std::minstd_rand random(1);
  char page[kPage];
  while (true) {
    const off_t at = static_cast<off_t>(random() % (bytes / kPage) * kPage);
    if (::pread(fd.get(), page, sizeof page, at) != static_cast<ssize_t>(sizeof page)) ::_exit(1);
    if (pause.count() > 0) ::usleep(static_cast<useconds_t>(pause.count()));
  }
}

// Reads a disk from its start to its end repeatedly, through the page cache.
[[noreturn]] void stream(const LoopDisk& disk, std::uint64_t bytes) {
  const UniqueFd fd(::open(disk.path().c_str(), O_RDONLY | O_CLOEXEC));
  std::string block(64 * kPage, ' ');
  for (std::uint64_t at = 0;; at = (at + block.size()) % bytes)
    if (::pread(fd.get(), block.data(), block.size(), static_cast<off_t>(at)) <= 0) ::_exit(1);
}

// Allocates and frees memory repeatedly.
[[noreturn]] void sawtooth(std::uint64_t bytes) {
  while (true) {
    char* memory =
        static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED) ::_exit(1);
    for (std::uint64_t at = 0; at < bytes; at += kPage) memory[at] = 1;
    ::usleep(20'000);
    ::munmap(memory, bytes);
  }
}

[[noreturn]] void hold(std::uint64_t bytes) {
  char* memory = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (std::uint64_t at = 0; at < bytes; at += kPage) memory[at] = 1;
  while (true) ::pause();
}

constexpr std::uint64_t kVictimSize = 24 * kMiB, kStreamSize = 96 * kMiB, kParentLimit = 96 * kMiB;

// A victim with 24 MiB of page cache, which fits into the parent's limit of 96 MiB, and other cgroups below the same
// parent. A stream that returns to a page after less than about the limit's size displaces pages of others; a longer
// stream displaces only its own.
struct MemoryFixture {
  MemoryFixture() { parent.limit_memory(kParentLimit); }
  bool works() const { return victim_disk && other_disk; }
  // Starts the victim and waits eight windows, in which it brings its pages into memory.
  void begin(RealAdvisor& advisor) {
    reading = start_in(victim, [this] { read_at_random(*victim_disk, kVictimSize, 100us); });
    REQUIRE(collect(advisor, 8));
  }

  std::unique_ptr<LoopDisk> victim_disk = LoopDisk::attach(kVictimSize);
  std::unique_ptr<LoopDisk> other_disk = LoopDisk::attach(kStreamSize);
  RealCgroup parent{"memory"};
  RealCgroup victim{parent, "victim"}, culprit{parent, "culprit"}, decoy{parent, "decoy"};
  Process reading;
};

void check_shared_parent(MemoryFixture& fixture, RealAdvisor& advisor) {
  REQUIRE(collect_until(advisor, [&] { return has_verdict(advisor, fixture.victim, "memory", "shared-parent"); }));
  const std::string text = verdict(advisor, fixture.victim, "memory");
  MESSAGE(text);
  CHECK(names_first(text, fixture.culprit));
}

}  // namespace

std::optional<std::string> why_not() {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) return "the kernel has no types";
  return std::nullopt;
}

TEST_CASE(
    "a reader beside a bulk writer is interfered with, by the writer and not by a small stream, until that ends") {
  const std::string path = sample_path();
  const bool is_on_disk = make_disk_file(path);
  const RealCgroup reader("reader"), writer("writer"), small("small");
  if (is_on_disk) {
    RealAdvisor advisor({&reader, &writer, &small});
    const Process reading = start_in(reader, [&] { transfer(path, O_RDONLY, kPage, 1000us); });
    const Process streaming = start_in(small, [&] { transfer(path, O_WRONLY, kPage, 20'000us); });
    CHECK(collect(advisor, 16));
    CHECK_FALSE(has_verdict(advisor, reader, "blkio", "interfered"));
    const double alone_ms = read_ms(path);
    Process writing = start_in(
        writer, [&] { transfer(path, O_WRONLY, kMiB, 0us); }, 48);
    const auto is_reported = [&] { return has_verdict(advisor, reader, "blkio", "interfered"); };
    bool is_found = collect_until(advisor, is_reported, 20s);
    const double beside_ms = read_ms(path), added_ms = beside_ms - alone_ms;
    // Some disks become slow only after a longer time of writes.
    if (!is_found && added_ms >= 0.8) is_found = collect_until(advisor, is_reported, 20s);
    const std::string text = verdict(advisor, reader, "blkio");
    MESSAGE("a read takes ", alone_ms, " ms alone, ", beside_ms, " ms beside the writer: ", text);
    // The rule requires 0.5 ms more, which a fast disk may not reach. Near that value both answers are right.
    CHECK((is_found || added_ms < 0.8));
    if (is_found) {
      CHECK(names_first(text, writer));
      CHECK(text.find("reads take") != std::string::npos);
    }
    writing.reset();
    CHECK(collect_until(advisor, [&] { return !has_verdict(advisor, reader, "blkio", "interfered"); }));
  } else {
    std::printf("SKIPPED: no disk holds /var/tmp\n");
  }
  ::unlink(path.c_str());
}

TEST_CASE("a container at its own memory limit is at fault itself") {
  const auto disk = LoopDisk::attach(kVictimSize);
  if (!disk) return;
  const RealCgroup limited("limited");
  limited.limit_memory(16 * kMiB);
  RealAdvisor advisor({&limited});
  const Process reading = start_in(limited, [&] { read_at_random(*disk, kVictimSize, 0us); });
  CHECK(collect_until(advisor, [&] { return has_verdict(advisor, limited, "memory", "self-memory-limit"); }));
  MESSAGE(verdict(advisor, limited, "memory"));
}

TEST_CASE(
    "a container that streams through the page cache below a common limit is at fault, its idle neighbour is not") {
  MemoryFixture fixture;
  if (!fixture.works()) return;
  RealAdvisor advisor({&fixture.victim, &fixture.culprit, &fixture.decoy});
  const Process holding = start_in(fixture.decoy, [] { hold(40 * kMiB); });
  fixture.begin(advisor);
  CHECK_FALSE(has_verdict(advisor, fixture.victim, "memory", "shared-parent"));
  const Process streaming = start_in(
      fixture.culprit, [&] { stream(*fixture.other_disk, kStreamSize); }, 2);
  check_shared_parent(fixture, advisor);
}

TEST_CASE(
    "a container that allocates memory and frees it below a common limit is at fault, its idle neighbour is not") {
  MemoryFixture fixture;
  if (!fixture.works()) return;
  RealAdvisor advisor({&fixture.victim, &fixture.culprit, &fixture.decoy});
  const Process holding = start_in(fixture.decoy, [] { hold(10 * kMiB); });
  fixture.begin(advisor);
  const Process growing = start_in(fixture.culprit, [] { sawtooth(72 * kMiB); });
  check_shared_parent(fixture, advisor);
}

TEST_CASE("a neighbour that streams within a small limit of its own is not at fault for those that lose their pages") {
  MemoryFixture fixture;
  if (!fixture.works()) return;
  fixture.decoy.limit_memory(8 * kMiB);
  const auto decoy_disk = LoopDisk::attach(kStreamSize);
  if (!decoy_disk) return;
  RealAdvisor advisor({&fixture.victim, &fixture.culprit, &fixture.decoy});
  const Process decoying = start_in(fixture.decoy, [&] { stream(*decoy_disk, kStreamSize); });
  fixture.begin(advisor);
  const Process growing = start_in(
      fixture.culprit, [&] { stream(*fixture.other_disk, kStreamSize); }, 2);
  check_shared_parent(fixture, advisor);
}

TEST_CASE("the plugin as it is installed judges caches with hardware counters, or says why it does not") {
  const RealCgroup any("caches");
  RealAdvisor advisor({&any});
  advisor.tick();
  const auto capability = advisor.host().capabilities().find("verdict.cache", "test");
  REQUIRE(capability);
  MESSAGE(capability->detail);
  if (capability->state == koord::service::CapabilityState::supported) {
    CHECK(capability->detail.find("suspected: ") == 0);
  } else {
    // The counters, or the library with the names of their events, may be missing.
    const bool names_cause = capability->detail.find("PERF_COUNT_HW_CPU_CYCLES") != std::string::npos ||
                             capability->detail.find("libpfm4") != std::string::npos;
    CHECK_MESSAGE(names_cause, capability->detail);
    CHECK_FALSE(advisor.value("container_interference", any, {{"resource", "cache"}, {"kind", "interfered"}}));
  }
}
