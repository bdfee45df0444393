// SPDX-License-Identifier: Apache-2.0
// CpuBlame owns the programs of bpf/cpu_blame; its destructor unloads them. They measure how long the threads of each
// cgroup waited for a CPU, and which cgroups occupied it. Used by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/latency/slot_programs.hpp"
#include "plugins/shared/latency/waits.hpp"
#include "plugins/shared/latency/windows.hpp"

struct blame_slot;

namespace koord::interference {

// Number of thresholds x of an excess: 0.25, 0.5, 1, 2, 4, 8 ms.
inline constexpr std::size_t kExcessLevels = 6;

// CPU time and waits of a cgroup's threads, in nanoseconds. Time throttled by a CPU quota is only in `throttled`.
struct CpuTimes {
  std::uint64_t run = 0, wait = 0;  // `wait` includes waits that still last
  std::uint64_t waits = 0;          // number of waits that have ended
  std::uint64_t long_wait = 0;      // time in waits of at least 1 ms
  std::uint64_t throttled = 0;
  std::array<std::uint64_t, kExcessLevels> excess{};  // Σ max(0, wait − x)

  bool empty() const { return run == 0 && wait == 0 && throttled == 0; }
  CpuTimes& operator+=(const CpuTimes& other);
};
CpuTimes added(const CpuTimes& before, const CpuTimes& now);

// The occupant of a CPU while threads waited.
enum class Occupant {
  cgroup,
  kernel,   // kernel threads
  idle,     // the CPU ran no thread, and the waiting thread was about to run
  moved,    // short waits on CPUs from which the thread was moved
  unknown,  // longer ago than the programs record, or a cgroup without a slot
};

// Time in long waits since the last reading, in nanoseconds.
struct Blame {
  std::uint64_t victim = 0;  // inode number of the cgroup's directory; 0: the cgroup has no slot
  Occupant occupant{};
  std::uint64_t culprit = 0;  // only for Occupant::cgroup; may be the victim itself: its own threads
  std::uint64_t ns = 0;
};

// Time for which a cgroup's threads ran on a CPU since the last reading.
struct CpuRun {
  std::uint64_t cgroup = 0;  // inode number of its directory
  unsigned cpu = 0;
  std::uint64_t ns = 0;

  bool operator==(const CpuRun&) const = default;
};

struct CpuReading {
  latency::Reading<CpuTimes> times;
  std::vector<CpuRun> runs;
  std::vector<Blame> blames;
  std::uint64_t unplaced_ns = 0;  // blames that did not fit into the matrix, since the programs started
  // The waits by length, including kernel threads; empty if not requested.
  latency::Reading<latency::Waits> waits;
};

// Selects the cgroups for which waits are read by length. For many cgroups these are megabytes.
enum class Lengths { none, of_ended, all };

class CpuBlame {
 public:
  static constexpr std::uint32_t kPairs = 16384;

  // Loads the programs. Fails with the reason if the kernel refuses them. `slots`: number of cgroups measured
  // separately; 0: as many as fit into 16 MiB.
  static Result<CpuBlame> open(const latency::CgroupTree& tree, const std::string& btf = {}, std::uint32_t slots = 0);

  // Counts waits that still last up to the time of the call, then reads.
  Result<CpuReading> read(Lengths lengths = Lengths::none);

 private:
  CpuBlame(latency::SlotPrograms programs, std::uint32_t cpus) : programs_(std::move(programs)), cpus_(cpus) {}

  void take_runs(const std::vector<blame_slot>& copies, const latency::SlotOwner& owner, std::vector<CpuRun>& runs);
  Result<latency::Reading<latency::Waits>> read_waits(const std::vector<CpuTimes>& times) const;
  Result<void> free_ended();

  latency::SlotPrograms programs_;
  std::uint32_t cpus_;
  std::vector<std::uint64_t> run_ns_;  // at the last reading; index: slot and CPU
  std::vector<std::uint32_t> pairs_ = std::vector<std::uint32_t>(kPairs);
  std::vector<std::uint64_t> pair_ns_ = std::vector<std::uint64_t>(kPairs);
};

}  // namespace koord::interference
