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
#include <memory>
#include <string>

#include "core/base/file.hpp"
#include "core/base/unique_fd.hpp"
#include "test/node/real_advisor.hpp"
#include "test/support/child_process.hpp"
#include "test/support/disk_workloads.hpp"
#include "test/support/loop_disk.hpp"

using namespace koord::test;
using namespace std::chrono_literals;
using koord::UniqueFd;

namespace {

constexpr std::uint64_t kFileSize = 32 * kMiB;

using Process = std::unique_ptr<ChildProcess>;

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
  for (std::uint64_t i = 0; i < kFileSize / kMiB; ++i)
    if (::write(fd.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size())) return false;
  return ::fsync(fd.get()) == 0;
}

// ---- memory

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
    reading = start_threads_in(victim, [this] { read_at_random(victim_disk->path(), kVictimSize, 100us); });
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
    const Process reading = start_threads_in(reader, [&] { transfer(path, kFileSize, O_RDONLY, kPage, 1000us); });
    const Process streaming = start_threads_in(small, [&] { transfer(path, kFileSize, O_WRONLY, kPage, 20'000us); });
    CHECK(collect(advisor, 16));
    CHECK_FALSE(has_verdict(advisor, reader, "blkio", "interfered"));
    const double alone_ms = read_ms(path);
    Process writing = start_threads_in(
        writer, [&] { transfer(path, kFileSize, O_WRONLY, kMiB, 0us); }, 48);
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
  const Process reading = start_threads_in(limited, [&] { read_at_random(disk->path(), kVictimSize, 0us); });
  CHECK(collect_until(advisor, [&] { return has_verdict(advisor, limited, "memory", "self-memory-limit"); }));
  MESSAGE(verdict(advisor, limited, "memory"));
}

TEST_CASE(
    "a container that streams through the page cache below a common limit is at fault, its idle neighbour is not") {
  MemoryFixture fixture;
  if (!fixture.works()) return;
  RealAdvisor advisor({&fixture.victim, &fixture.culprit, &fixture.decoy});
  const Process holding = start_threads_in(fixture.decoy, [] { hold(40 * kMiB); });
  fixture.begin(advisor);
  CHECK_FALSE(has_verdict(advisor, fixture.victim, "memory", "shared-parent"));
  const Process streaming = start_threads_in(
      fixture.culprit, [&] { stream(fixture.other_disk->path(), kStreamSize); }, 2);
  check_shared_parent(fixture, advisor);
}

TEST_CASE(
    "a container that allocates memory and frees it below a common limit is at fault, its idle neighbour is not") {
  MemoryFixture fixture;
  if (!fixture.works()) return;
  RealAdvisor advisor({&fixture.victim, &fixture.culprit, &fixture.decoy});
  const Process holding = start_threads_in(fixture.decoy, [] { hold(10 * kMiB); });
  fixture.begin(advisor);
  const Process growing = start_threads_in(fixture.culprit, [] { sawtooth(72 * kMiB); });
  check_shared_parent(fixture, advisor);
}

TEST_CASE("a neighbour that streams within a small limit of its own is not at fault for those that lose their pages") {
  MemoryFixture fixture;
  if (!fixture.works()) return;
  fixture.decoy.limit_memory(8 * kMiB);
  const auto decoy_disk = LoopDisk::attach(kStreamSize);
  if (!decoy_disk) return;
  RealAdvisor advisor({&fixture.victim, &fixture.culprit, &fixture.decoy});
  const Process decoying = start_threads_in(fixture.decoy, [&] { stream(decoy_disk->path(), kStreamSize); });
  fixture.begin(advisor);
  const Process growing = start_threads_in(
      fixture.culprit, [&] { stream(fixture.other_disk->path(), kStreamSize); }, 2);
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
