// SPDX-License-Identifier: Apache-2.0
// The rule for memory: judges one container in one window. Pure. [any thread]
//
// The figure for harm is the time for reading pages again that the kernel had taken from the container: refaults per
// second times the mean time of a read. Stalls in reclaim do not show it: those that need memory stall, not those that
// lose their pages.
#pragma once

#include <vector>

#include "core/analysis/cpu_rule.hpp"

namespace koord::analysis {

// The limit that made the kernel take pages.
enum class MemoryLimit {
  none,
  own,       // of the container
  ancestor,  // of a cgroup above it
  node,      // no limit: the node is short of memory
};

// A container, or what is outside of pods, below the cgroup that is at its limit; on the node, all of them.
struct MemorySharer {
  SuspectKind kind = SuspectKind::container;
  Subject subject = 0;
  double reclaimed = 0;  // pages per second that its threads had to free to get memory
  double share = 0;      // of the memory in use there
  double growth = 0;     // bytes/s
  double refaults = 0;   // per second
  double usage = 0;      // bytes
};

struct MemoryWindow {
  Subject subject = 0;
  double refaults = 0;   // per second
  double read_time = 0;  // mean, in seconds; 0: unknown
  MemoryLimit limit = MemoryLimit::none;
  std::vector<MemorySharer> sharers;  // of MemoryLimit::ancestor and node, the container itself among them
};

// Each a setting. Seconds per second are the same as shares of time.
struct MemoryRule {
  double refault_time = 0.010;  // least time for reading pages again
  double over_quiet = 2.5;      // it must be this many times that of quiet windows
};

// Time for reading pages again, in seconds per second.
inline double refault_time_of(const MemoryWindow& window) { return window.refaults * window.read_time; }

// `quiet`: refault_time_of() in this container's quiet windows, 0 while it is not known.
Finding judge_memory(const MemoryWindow& window, double quiet, const MemoryRule& rule = {});

}  // namespace koord::analysis
