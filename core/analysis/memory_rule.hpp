// SPDX-License-Identifier: Apache-2.0
// The rule for memory: judges one container in one window. Pure. [any thread]
//
// The measure of harm is the time for reading pages again that the kernel had reclaimed from the container: refaults
// per second times the mean time of a read. Stalls in reclaim do not show the harm, because containers that need memory
// stall, not the containers that lose pages.
#pragma once

#include <vector>

#include "core/analysis/cpu_rule.hpp"

namespace koord::analysis {

// The limit that caused the reclaim.
enum class MemoryLimit {
  none,
  own,       // limit of the container
  ancestor,  // limit of an ancestor cgroup
  node,      // no limit: the node is short of memory
};

// A container or a cgroup outside of pods, below the cgroup that is at its limit. For MemoryLimit::node: anywhere on
// the node.
struct MemorySharer {
  SuspectKind kind = SuspectKind::container;
  Subject subject = 0;
  double reclaimed = 0;  // pages per second that its threads reclaimed to get memory
  double share = 0;      // share of the memory in use below that cgroup
  double growth = 0;     // bytes/s
  double refaults = 0;   // per second
  double usage = 0;      // bytes
};

struct MemoryWindow {
  Subject subject = 0;
  double refaults = 0;   // per second
  double read_time = 0;  // mean time of a read in seconds; 0: unknown
  MemoryLimit limit = MemoryLimit::none;
  std::vector<MemorySharer> sharers;  // for MemoryLimit::ancestor and node; includes the container itself
};

// The settings of the rule. Seconds per second are the same as shares of time.
struct MemoryRule {
  double refault_time = 0.010;  // minimum time for reading pages again
  double over_quiet = 2.5;      // minimum ratio to the quiet level
};

// Returns the time for reading pages again, in seconds per second.
inline double refault_time_of(const MemoryWindow& window) { return window.refaults * window.read_time; }

// Judges a window. `quiet`: refault_time_of() in this container's quiet windows; 0: unknown.
Finding judge_memory(const MemoryWindow& window, double quiet, const MemoryRule& rule = {});

}  // namespace koord::analysis
