// SPDX-License-Identifier: Apache-2.0
// ReadTerms: settings shared by the files of one reader: its clock, how long a value that was read for one caller is
// good for another, how many descriptors may be kept, and counts of reads. [any thread]
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "core/base/clock.hpp"
#include "core/cgroup/descriptor_budget.hpp"
#include "core/cgroup/key_sets.hpp"

namespace koord::cgroup {

struct ReadTerms {
  // Files share a few locks, each of which is held for the time of a parse at most and never during a system call on a
  // cgroup's file.
  struct Lock {
    std::mutex mutex;
    std::condition_variable changed;
    KeySets key_sets;  // of the files that have this lock
  };

  ReadTerms(const Clock& the_clock, std::size_t kept_files, std::size_t kept_directories)
      : clock(the_clock), files(kept_files), directories(kept_directories) {}

  const Clock& clock;
  Duration share_window{};  // a value this old at most is given to a caller that has not had it yet
  Duration longest_wait{};  // for another caller's read of the same file, in real time
  std::atomic<Duration::rep> costly_period = 0;  // ns; costly files are read once in it, for all callers

  DescriptorBudget files;
  DescriptorBudget directories;

  std::atomic<std::uint64_t> reads = 0;   // of the kernel's files
  std::atomic<std::uint64_t> shared = 0;  // answers that took none

  std::array<Lock, 64> locks;
};

}  // namespace koord::cgroup
