// SPDX-License-Identifier: Apache-2.0
// Measures how exactly this kernel applies block I/O limits that are set like qos-blkio's intents: the time of direct
// reads of a loop device under a limit of bytes, and of operations, compared with the time that the limit implies; and
// the speed without a limit. Needs root.
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "core/base/manual_clock.hpp"
#include "core/knob/executor.hpp"
#include "test/bench/measure.hpp"
#include "test/support/child_process.hpp"
#include "test/support/loop_disk.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::bench;
using namespace koord::test;

namespace {

constexpr std::uint64_t kBytes = 32 << 20;
constexpr std::size_t kBlock = 64 << 10;
constexpr double kTarget = 1.1;

double seconds_of_reading(const RealCgroup& cgroup, const LoopDisk& disk) {
  const auto start = std::chrono::steady_clock::now();
  ChildProcess reader([&] {
    cgroup.add_process(::getpid());
    const int device = ::open(disk.path().c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    void* block = nullptr;
    if (device < 0 || ::posix_memalign(&block, 4096, kBlock) != 0) ::_exit(1);
    for (std::uint64_t at = 0; at < kBytes; at += kBlock)
      if (::pread(device, block, kBlock, static_cast<off_t>(at)) != static_cast<ssize_t>(kBlock)) ::_exit(2);
  });
  if (reader.wait(std::chrono::seconds(300)) != 0) std::fprintf(stderr, "the reader failed\n");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Takes whole seconds, so the burst that the kernel allows at the beginning has little effect.
void measure(const std::string& name, const std::string& limit, double seconds_wanted, const RealCgroup& cgroup,
             const LoopDisk& disk) {
  const knob::KnobFiles files(*cgroup::Layout::detect(NodeRoots()), NodeRoots());
  knob::MemoryOriginals originals;
  ManualClock clock;
  knob::Executor executor(files, originals, clock);
  const knob::Knob& knob = *knob::find_knob("io.max");
  const std::string number = std::to_string(::major(disk.number())) + ":" + std::to_string(::minor(disk.number()));
  const auto report =
      executor.apply({{decision::Level::pod, cgroup.dir(), &knob, *knob::parse_value(knob, number + " " + limit)}});
  if (report.done[0].outcome != decision::Outcome::applied) {
    std::printf("SKIPPED: %s: %s\n", name.c_str(), report.done[0].problem.c_str());
    return;
  }
  const double seconds = seconds_of_reading(cgroup, disk);
  executor.apply({});
  print_ratio(name, seconds, "limit says", seconds_wanted, "s ", kTarget);
  std::printf("%-44s %10.3f s\n", "  the same without a limit", seconds_of_reading(cgroup, disk));
}

}  // namespace

int main() {
  if (auto why = RealCgroup::unavailable()) {
    std::printf("SKIPPED: no cgroups can be made here: %s\n", why->c_str());
    return kSkip;
  }
  const auto disk = LoopDisk::attach(kBytes);
  if (!disk) return kSkip;
  const RealCgroup cgroup("blkio-bench");
  measure("32 MiB at 8 MiB/s", "rbps=8388608", 4.0, cgroup, *disk);
  measure("512 reads at 128 a second", "riops=128", 4.0, cgroup, *disk);
  return 0;
}
