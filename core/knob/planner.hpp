// SPDX-License-Identifier: Apache-2.0
// The planner: in which order the knobs of a batch are written so that the kernel takes each write, and no cgroup has, on the
// way, less than both ends allow or more. What the kernel would refuse in the end is refused before anything is written. The
// rules of the kernel that it knows:
// - cpu.max.burst is at most the quota (kernel/sched/core.c, tg_set_cfs_bandwidth).
// - On v1 a cgroup's quota, as a share of its period, is at most that of each cgroup around it (tg_cfs_schedulable_down).
// - On v1 a CPU set is within that of the parent, and not empty; CPUs that are offline are in none (kernel/cgroup/cpuset.c).
// - A cgroup that is idle has no shares to be set (sched_group_set_shares).
// And two of reason: whose CPUs are his own is not throttled on them; where minima of memory add up to no more than the cgroup
// around has at both ends, they do so after each write (the kernel would take more, and give each less than was said to it,
// mm/page_counter.c, effective_protection). Pure. [any thread]
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/knob/knob.hpp"
#include "core/knob/originals.hpp"

namespace koord::knob {

// One knob of a batch.
struct Change {
  KnobKey key;
  const Knob* knob = nullptr;
  Value now, target;
  std::string refused = {};  // why it cannot be; then it is not written
  std::string remark = {};   // how the target had to be altered
  bool is_revert = false;    // the target is what somebody else had set
};

// What the kernel has around the changes. What is not known is taken as no obstacle.
struct Surroundings {
  // Knobs that are not changed themselves, by cgroup and resource.
  std::map<std::pair<std::string, std::string>, std::pair<const Knob*, Value>> values;
  bool nested_quotas = false;  // as v1 has it
  bool nested_sets = false;
  CpuSet online;                 // empty: not known
  std::set<std::string> pinned;  // cgroups of containers whose CPUs are theirs alone
};

struct PlannedWrite {
  std::size_t change;
  Value value;
};

// Alters the targets, and refuses, as the rules say.
std::vector<PlannedWrite> plan_writes(std::vector<Change>& changes, const Surroundings& around);

// A quota's share of the period as the kernel compares it, in 2^-20.
std::int64_t share_of(const Value& bandwidth);

}  // namespace koord::knob
