// SPDX-License-Identifier: Apache-2.0
// The overhead of the latency advisors' BPF programs for the events that they trace, and for others: switches between
// threads, new processes, direct reads of a disk, reclaim at a memory limit. In each round every variant does the same
// work four times; the shortest time counts. The order alternates. The result is the median over the rounds of a
// variant's time divided by the time without a program.
//
// usage: latency_programs-bench [ROUNDS]    default 7, some 30 s
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/unique_fd.hpp"
#include "plugins/advisor-block-latency/block_latency_probe.hpp"
#include "plugins/advisor-interference/block_blame.hpp"
#include "plugins/advisor-interference/memory_blame.hpp"
#include "plugins/advisor-memory-latency/memory_latency_probe.hpp"
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"
#include "test/bench/measure.hpp"
#include "test/bench/undisturbed.hpp"
#include "test/support/child_process.hpp"
#include "test/support/loop_disk.hpp"
#include "test/support/real_cgroup.hpp"

namespace {

using koord::UniqueFd;
using koord::bench::gate;
using koord::bench::median;
using koord::latency::CgroupTree;
using koord::test::kSkip;
using koord::test::LoopDisk;
using koord::test::RealCgroup;
using Seconds = std::optional<double>;

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::size_t kBlock = 4096;
constexpr std::uint64_t kDiskSize = 96 * kMiB;
constexpr std::uint64_t kLimit = 32 * kMiB;

[[noreturn]] void skip(const std::string& why) {
  std::printf("SKIPPED: latency_programs: %s\n", why.c_str());
  std::exit(kSkip);
}

template <class T>
T must(koord::Result<T> result) {
  if (!result) skip(result.error().message());
  return std::move(result).value();
}

CgroupTree tree_of(const char* controller) { return must(CgroupTree::find(controller, "/sys/fs/cgroup", "/proc")); }

// The BPF programs run while this object exists.
using Running = std::shared_ptr<void>;

Running sched() {
  auto opened = must(koord::sched_latency::open_probe(tree_of("cpu"), {}));
  return std::shared_ptr<koord::sched_latency::Probe>(std::move(opened.probe));
}
Running memory() {
  using koord::memory_latency::MemoryLatencyProbe;
  return std::make_shared<MemoryLatencyProbe>(must(MemoryLatencyProbe::open(tree_of("memory"), {})));
}
Running block() {
  using koord::block_latency::BlockLatencyProbe;
  return std::make_shared<BlockLatencyProbe>(must(BlockLatencyProbe::open(tree_of("blkio"), {})));
}

Running block_blame() {
  using koord::interference::BlockBlame;
  return std::make_shared<BlockBlame>(must(BlockBlame::open(tree_of("blkio"))));
}
Running block_and_blame() { return std::make_shared<std::pair<Running, Running>>(block(), block_blame()); }
Running memory_blame() {
  using koord::interference::MemoryBlame;
  return std::make_shared<MemoryBlame>(must(MemoryBlame::open(tree_of("memory"))));
}

struct Variant {
  std::string name;
  Running (*start)();
  double target;  // maximum of the time divided by the time without a program
};

// A kind of work. Its function returns the time, or nullopt if this machine cannot do the work.
struct Work {
  std::string name;
  std::function<Seconds()> run;
  std::vector<Variant> variants;
};

Seconds seconds_of(const std::function<bool()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  if (!work()) return std::nullopt;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool spawn_many() {
  for (int i = 0; i < 60; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl("/bin/true", "true", nullptr);
      ::_exit(1);
    }
    int status = 0;
    if (pid < 0 || ::waitpid(pid, &status, 0) != pid || status != 0) return false;
  }
  return true;
}

bool read_direct(const LoopDisk& disk) {
  const UniqueFd fd(::open(disk.path().c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  const std::unique_ptr<void, decltype(&std::free)> buffer(std::aligned_alloc(kBlock, kBlock), &std::free);
  for (std::uint64_t i = 0; i < 2000; ++i)
    if (::pread(fd.get(), buffer.get(), kBlock, static_cast<off_t>(i * kBlock % kDiskSize)) <= 0) return false;
  return true;
}

// The limit makes the reader reclaim for most of its reads. A memory cgroup of v1 accepts no real-time threads.
bool read_at_limit(const LoopDisk& disk) {
  const RealCgroup cgroup("bench-limit");
  cgroup.limit_memory(kLimit);
  koord::test::ChildProcess reader([&] {
    const sched_param ordinary{};
    static_cast<void>(sched_setscheduler(0, SCHED_OTHER, &ordinary) == 0);
    cgroup.add_process(::getpid());
    const UniqueFd fd(::open(disk.path().c_str(), O_RDONLY | O_CLOEXEC));
    std::string block(kMiB, ' ');
    for (std::uint64_t at = 0; at < kDiskSize; at += block.size())
      if (::pread(fd.get(), block.data(), block.size(), static_cast<off_t>(at)) <= 0) ::_exit(1);
  });
  return reader.wait(std::chrono::seconds(60)) == 0;
}

std::vector<Work> works(const LoopDisk* disk) {
  std::vector<Work> all = {
      {"switches", [] { return koord::bench::pipe_us_per_op(30'000); }, {{"memory", memory, 1}, {"block", block, 1}}},
      {"fork and exec",
       [] { return seconds_of(spawn_many); },
       {{"sched", sched, 1.05}, {"memory", memory, 1}, {"block", block, 1}}}};
  if (!disk) return all;
  all.push_back(
      {"direct reads",
       [disk] { return seconds_of([&] { return read_direct(*disk); }); },
       {{"block", block, 1.05}, {"block_blame", block_blame, 1.05}, {"block and block_blame", block_and_blame, 1.1}}});
  all.push_back({"reads at a memory limit",
                 [disk] { return seconds_of([&] { return read_at_limit(*disk); }); },
                 {{"memory", memory, 1.02}, {"memory_blame", memory_blame, 1.02}}});
  return all;
}

Seconds shortest_of(int n, const std::function<Seconds()>& run) {
  Seconds shortest;
  for (int i = 0; i < n; ++i) {
    const Seconds seconds = run();
    if (!seconds) return std::nullopt;
    shortest = std::min(shortest.value_or(*seconds), *seconds);
  }
  return shortest;
}

// Returns the times of one round: without a program, then for each variant.
std::optional<std::vector<double>> round_of(const Work& work, std::size_t first) {
  const std::size_t n = work.variants.size() + 1;
  std::vector<double> times(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t which = (first + i) % n;
    const Running running = which == 0 ? nullptr : work.variants[which - 1].start();
    const Seconds seconds = shortest_of(4, work.run);
    if (!seconds) return std::nullopt;
    times[which] = *seconds;
  }
  return times;
}

bool measure(const Work& work, std::size_t rounds) {
  std::vector<std::vector<double>> all;
  for (std::size_t round = 0; round < rounds; ++round) {
    auto times = round_of(work, round);
    if (!times) {
      std::printf("%-44s SKIPPED: does not work here\n", work.name.c_str());
      return true;
    }
    all.push_back(std::move(*times));
  }
  bool kept = true;
  for (std::size_t i = 1; i <= work.variants.size(); ++i) {
    std::vector<double> ours, none, ratios;
    for (const auto& times : all) {
      ours.push_back(times[i]);
      none.push_back(times[0]);
      ratios.push_back(times[i] / times[0]);
    }
    const Variant& variant = work.variants[i - 1];
    kept &=
        gate(work.name + ", " + variant.name + " / none", median(ours), median(none), median(ratios), variant.target);
  }
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  if (auto why = RealCgroup::unavailable()) skip(*why);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 7;
  if (rounds < 5) {
    std::fprintf(stderr, "ROUNDS is '%s', expected a number from 5\n", argv[1]);
    return 2;
  }
  const auto disk = LoopDisk::attach(kDiskSize);
  koord::bench::pin_to_one_cpu();
  koord::bench::go_before_others();
  koord::bench::print_gate_header();
  bool kept = true;
  for (const Work& work : works(disk.get())) kept &= measure(work, static_cast<std::size_t>(rounds));
  return kept ? 0 : 1;
}
