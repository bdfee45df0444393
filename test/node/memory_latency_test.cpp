// SPDX-License-Identifier: Apache-2.0
// Memory latency on the real kernel, from each source: reclaim under a real limit compared with the threads' own
// measurements and the kernel's pressure files; compaction compared with the measurement of the thread that does it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/base/unique_fd.hpp"
#include "plugins/advisor-memory-latency/memory_latency_probe.hpp"
#include "test/support/child_process.hpp"
#include "test/support/loop_disk.hpp"
#include "test/support/must.hpp"
#include "test/support/now_ns.hpp"
#include "test/support/real_cgroup.hpp"
#include "test/support/run_with_cgroups.hpp"

namespace {

using koord::UniqueFd;
using koord::latency::CgroupTree;
using koord::latency::SlotOptions;
using koord::memory_latency::Kind;
using koord::memory_latency::MemoryLatencyProbe;
using koord::memory_latency::Reading;
using koord::memory_latency::Stalls;
using koord::memory_latency::Windows;
using koord::test::ChildProcess;
using koord::test::eventually;
using koord::test::LoopDisk;
using koord::test::must;
using koord::test::now_ns;
using koord::test::RealCgroup;

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kLimit = 32 * kMiB;
constexpr std::uint64_t kDiskSize = 128 * kMiB;
constexpr auto kPatience = std::chrono::seconds(120);

CgroupTree real_tree() { return must(CgroupTree::find("memory", "/sys/fs/cgroup", "/proc")); }
std::uint64_t id_of(const RealCgroup& cgroup) { return must(real_tree().directory(cgroup.dir())).id; }

// Prints a line and returns nullopt on a kernel without BTF. Every other kernel must accept the programs.
std::optional<MemoryLatencyProbe> open_or_skip(std::string_view source, std::uint32_t slots = 0) {
  auto opened = MemoryLatencyProbe::open(real_tree(), {.slots = slots, .only = std::string(source)});
  if (opened) return std::move(*opened);
  if (::access("/sys/kernel/btf/vmlinux", R_OK) == 0) throw std::runtime_error(opened.error().message());
  std::printf("SKIPPED: %s\n", opened.error().message().c_str());
  return std::nullopt;
}

// Reads through the page cache, which is charged to the cgroup of the first reader. Uses a disk because in a small
// machine files are already in memory.
void read(const LoopDisk& disk, std::uint64_t from, std::uint64_t bytes) {
  const UniqueFd fd(::open(disk.path().c_str(), O_RDONLY | O_CLOEXEC));
  std::string block(kMiB, ' ');
  for (std::uint64_t at = from; at < from + bytes; at += block.size())
    if (::pread(fd.get(), block.data(), block.size(), static_cast<off_t>(at)) != static_cast<ssize_t>(block.size()))
      ::_exit(1);
}

// The measurement that a child makes of itself.
struct Own {
  std::atomic<std::uint64_t> elapsed_ns{0};
};

class SharedOwn {
 public:
  SharedOwn() {
    void* memory = ::mmap(nullptr, sizeof(Own), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    own_ = new (memory) Own;
  }
  SharedOwn(const SharedOwn&) = delete;
  SharedOwn& operator=(const SharedOwn&) = delete;
  ~SharedOwn() { ::munmap(own_, sizeof(Own)); }
  Own* operator->() const { return own_; }

 private:
  Own* own_;
};

// Runs the work as a process in the cgroup. Returns how long it took there.
std::uint64_t elapsed_in(const RealCgroup& cgroup, const std::function<void()>& work) {
  SharedOwn own;
  ChildProcess process([&] {
    cgroup.add_process(::getpid());
    const std::uint64_t begin = now_ns();
    work();
    own->elapsed_ns = now_ns() - begin;
  });
  const auto status = process.wait(kPatience);
  REQUIRE(status == 0);
  return own->elapsed_ns;
}

// Returns how often a charge to the cgroup reached its limit.
std::uint64_t times_at_limit(const RealCgroup& cgroup) {
  const std::string dir = cgroup.path(koord::cgroup::Controller::memory);
  if (auto failures = koord::read_file(dir + "/memory.failcnt")) return must(koord::parse_uint(koord::trim(*failures)));
  const std::string events = must(koord::read_file(dir + "/memory.events"));
  const std::size_t at = events.find("\nmax ") + 5;
  return must(koord::parse_uint(events.substr(at, events.find('\n', at) - at)));
}

// Returns the time in which at least one thread was stalled for memory.
std::optional<std::uint64_t> pressure_ns(const std::string& file) {
  const auto text = koord::read_file(file);
  if (!text) return std::nullopt;
  const std::size_t at = text->find("total=") + 6;
  return must(koord::parse_uint(text->substr(at, text->find('\n', at) - at))) * 1000;
}

// Returns the minimum growth of the kernel's pressure value after a reclaim of `reclaim_ns`. The kernel weights CPUs by
// their busy time. A cgroup uses only its own CPU, but in the value of the whole node other work may have any weight.
std::uint64_t least_pressure_ns(bool is_of_cgroup, std::uint64_t reclaim_ns) {
  return is_of_cgroup ? reclaim_ns / 2 : 1;
}

Stalls window_of(MemoryLatencyProbe& probe, Windows& windows, std::uint64_t cgroup) {
  windows.advance(must(probe.read()));
  return windows.of(cgroup);
}

void check_reclaim(std::string_view source) {
  auto probe = open_or_skip(source);
  if (!probe) return;
  const auto disk = LoopDisk::attach(kDiskSize + kLimit);
  if (!disk) return;
  RealCgroup squeezed("squeezed"), roomy("roomy");
  squeezed.limit_memory(kLimit);
  Windows windows;
  window_of(*probe, windows, 0);
  const std::string own_pressure = squeezed.path(koord::cgroup::Controller::memory) + "/memory.pressure";
  const bool has_own_pressure = pressure_ns(own_pressure).has_value();
  const std::string pressure_file = has_own_pressure ? own_pressure : "/proc/pressure/memory";
  const auto pressure_before = pressure_ns(pressure_file);
  const std::uint64_t elapsed = elapsed_in(squeezed, [&] { read(*disk, 0, kDiskSize); });
  elapsed_in(roomy, [&] { read(*disk, kDiskSize, kLimit / 2); });
  const Stalls stalls = window_of(*probe, windows, id_of(squeezed));
  const auto& reclaim = stalls.of(Kind::memcg_reclaim);
  INFO("stalls ", reclaim.count, " of ", reclaim.sum_ns, " ns in ", elapsed, " ns, limit met ",
       times_at_limit(squeezed));
  // A charge that reaches the limit reclaims once or a few times.
  CHECK(reclaim.count >= times_at_limit(squeezed) / 2);
  CHECK(reclaim.count > 0);
  CHECK(reclaim.sum_ns > 0);
  CHECK(reclaim.sum_ns <= elapsed);
  CHECK(windows.of(id_of(roomy)) == Stalls{});
  CHECK(windows.node()->of(Kind::memcg_reclaim).sum_ns >= reclaim.sum_ns);
  if (!pressure_before) return;
  // The kernel updates this value every two seconds.
  const std::uint64_t least = *pressure_before + least_pressure_ns(has_own_pressure, reclaim.sum_ns);
  CHECK(eventually([&] { return *pressure_ns(pressure_file) >= least; }));
}

// Returns the sum of all lines of /proc/vmstat with this prefix.
std::uint64_t vmstat(std::string_view prefix) {
  std::uint64_t sum = 0;
  const std::string text = must(koord::read_file("/proc/vmstat"));
  for (const std::string_view line : koord::split(text, '\n'))
    if (line.starts_with(prefix)) sum += must(koord::parse_uint(line.substr(line.find(' ') + 1)));
  return sum;
}

std::uint64_t memory_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A kernel setting that the destructor resets.
class KernelSetting {
 public:
  KernelSetting(std::string path, const char* value) : path_(std::move(path)), before_(must(koord::read_file(path_))) {
    if (auto written = koord::write_value(path_, value); !written) throw std::runtime_error(written.error().message());
  }
  KernelSetting(const KernelSetting&) = delete;
  KernelSetting& operator=(const KernelSetting&) = delete;
  ~KernelSetting() { static_cast<void>(koord::write_value(path_, before_).has_value()); }

 private:
  std::string path_, before_;
};

// Reads more than the machine's memory with several processes at the same time, so the background reclaim is too slow.
void fill_memory(const RealCgroup& cgroup, const LoopDisk& disk, std::uint64_t bytes) {
  constexpr std::uint64_t kReaders = 6;
  std::vector<std::unique_ptr<ChildProcess>> readers;
  const std::uint64_t share = bytes / kReaders / kMiB * kMiB;
  for (std::uint64_t i = 0; i < kReaders; ++i)
    readers.push_back(std::make_unique<ChildProcess>([&, i] {
      cgroup.add_process(::getpid());
      read(disk, i * share, share);
    }));
  for (const auto& reader : readers) REQUIRE(reader->wait(kPatience) == 0);
}

// Returns whether this is a machine of test/v2. Only there the tests fill the memory and change kernel settings,
// because it has no other users. It is small and has its files in memory.
bool is_machine_of_its_own() {
  const std::string command_line = must(koord::read_file("/proc/cmdline"));
  const auto words = koord::split(koord::trim(command_line), ' ');
  return memory_bytes() < 2048 * kMiB && std::find(words.begin(), words.end(), "rdinit=/init") != words.end();
}

// A probe's values for one cgroup since the last read.
struct Observer {
  explicit Observer(std::string_view source) : probe(open_or_skip(source)) {
    if (probe) window_of(*probe, windows, 0);
  }
  Stalls read_moment(const RealCgroup& cgroup) { return window_of(*probe, windows, id_of(cgroup)); }
  std::optional<MemoryLatencyProbe> probe;
  Windows windows;
};

void check_direct_reclaim(Observer& observer, const RealCgroup& filling, std::uint64_t counted_by_kernel) {
  if (!observer.probe) return;
  const Stalls stalls = observer.read_moment(filling);
  const auto& direct = stalls.of(Kind::direct_reclaim);
  const std::uint64_t on_node = observer.windows.node()->of(Kind::direct_reclaim).count;
  INFO(observer.probe->source(), ": ", direct.count, " stalls of ", direct.sum_ns, " ns, ", on_node,
       " on the node, the kernel counts ", counted_by_kernel);
  CHECK(direct.count > 0);
  CHECK(direct.sum_ns > 0);
  CHECK(on_node <= counted_by_kernel);
  CHECK(on_node >= counted_by_kernel / 2);
  CHECK(stalls.of(Kind::memcg_reclaim).empty());
}

void check_compaction(std::string_view source) {
  auto probe = open_or_skip(source);
  if (!probe) return;
  constexpr const char* kCompact = "/proc/sys/vm/compact_memory";
  if (::access(kCompact, W_OK) != 0) {
    std::printf("SKIPPED: cannot write %s\n", kCompact);
    return;
  }
  RealCgroup compacting("compacting"), idle("idle");
  Windows windows;
  window_of(*probe, windows, 0);
  const std::uint64_t elapsed = elapsed_in(compacting, [] {
    if (!koord::write_value(kCompact, "1")) ::_exit(1);
  });
  const Stalls stalls = window_of(*probe, windows, id_of(compacting));
  INFO(stalls.of(Kind::compaction).sum_ns, " ns of ", elapsed);
  CHECK(stalls.of(Kind::compaction).count > 0);
  CHECK(stalls.of(Kind::compaction).sum_ns > 0);
  CHECK(stalls.of(Kind::compaction).sum_ns <= elapsed);
  CHECK(windows.of(id_of(idle)) == Stalls{});
}

void check_reuse(std::string_view source) {
  auto probe = open_or_skip(source);
  if (!probe) return;
  const auto disk = LoopDisk::attach(kDiskSize);
  if (!disk) return;
  RealCgroup container("short");
  container.limit_memory(kLimit);
  const std::uint64_t id = id_of(container);
  elapsed_in(container, [&] { read(*disk, 0, kDiskSize); });
  container.remove();
  const Reading removed = must(probe->read());
  const auto is_it = [id](const auto& cgroup) { return cgroup.cgroup == id; };
  REQUIRE(std::count_if(removed.ended.begin(), removed.ended.end(), is_it) == 1);
  CHECK(std::find_if(removed.ended.begin(), removed.ended.end(), is_it)->total.of(Kind::memcg_reclaim).count > 0);
  CHECK(std::none_of(removed.cgroups.begin(), removed.cgroups.end(), is_it));
  const Reading after = must(probe->read());
  CHECK(std::none_of(after.ended.begin(), after.ended.end(), is_it));
}

}  // namespace

TEST_CASE("task_storage charges reclaim to the cgroup at its limit, within the time its process took") {
  check_reclaim("task_storage");
}

TEST_CASE("raw_tracepoint charges reclaim to the cgroup at its limit, within the time its process took") {
  check_reclaim("raw_tracepoint");
}

TEST_CASE("both sources charge reclaim for lack of memory on the node, as often as the kernel counts it") {
  if (!is_machine_of_its_own()) {
    std::printf("SKIPPED: only a machine of test/v2 is filled\n");
    return;
  }
  const std::uint64_t bytes = memory_bytes() + memory_bytes() / 4;
  const auto disk = LoopDisk::attach(bytes);
  if (!disk) return;
  // Makes the kernel keep almost no memory free in advance.
  const KernelSetting least("/proc/sys/vm/min_free_kbytes", "1024"), gap("/proc/sys/vm/watermark_scale_factor", "1");
  const RealCgroup filling("filling");
  Observer task_storage("task_storage"), raw_tracepoint("raw_tracepoint");
  const std::uint64_t before = vmstat("allocstall_");
  fill_memory(filling, *disk, bytes);
  const std::uint64_t counted_by_kernel = vmstat("allocstall_") - before;
  REQUIRE(counted_by_kernel > 0);
  check_direct_reclaim(task_storage, filling, counted_by_kernel);
  check_direct_reclaim(raw_tracepoint, filling, counted_by_kernel);
}

TEST_CASE("task_storage charges compaction to the cgroup of the thread that does it") {
  check_compaction("task_storage");
}

TEST_CASE("raw_tracepoint charges compaction to the cgroup of the thread that does it") {
  check_compaction("raw_tracepoint");
}

TEST_CASE("a removed cgroup is reported once with its last stalls, from task_storage") { check_reuse("task_storage"); }

TEST_CASE("a removed cgroup is reported once with its last stalls, from raw_tracepoint") {
  check_reuse("raw_tracepoint");
}

TEST_CASE("stalls for which no slot was free are counted, and are in no cgroup's histogram") {
  auto probe = open_or_skip("task_storage", 2);  // one slot is for unassigned stalls
  if (!probe) return;
  const auto disk = LoopDisk::attach(kDiskSize);
  if (!disk) return;
  RealCgroup first("first"), second("second");
  for (const RealCgroup* cgroup : {&first, &second}) {
    cgroup->limit_memory(kLimit);
    elapsed_in(*cgroup, [&] { read(*disk, 0, kDiskSize); });
  }
  const Reading reading = must(probe->read());
  CHECK(reading.slots == 1);
  CHECK(reading.slots_used == 1);
  CHECK(reading.unassigned->of(Kind::memcg_reclaim).count > 0);
}

TEST_CASE("a source that the kernel refuses is an error with the reason in it") {
  auto opened = MemoryLatencyProbe::open(real_tree(), {.btf = "/dev/null", .only = "task_storage"});
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message().find("task_storage: ") != std::string::npos);
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
