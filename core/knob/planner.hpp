// SPDX-License-Identifier: Apache-2.0
// The planner: orders the writes of a batch. The kernel accepts each write in this order. In between, no cgroup has
// less than the smaller or more than the larger of its old and new value. Changes that the kernel would refuse in the
// end are refused before anything is written. The planner implements these rules of the kernel:
// - cpu.max.burst is at most the quota (kernel/sched/core.c, tg_set_cfs_bandwidth).
// - On v1 a cgroup's quota, as a share of its period, is at most that of each cgroup around it
// (tg_cfs_schedulable_down).
// - On v1 a CPU set is within that of the parent, and not empty; CPUs that are offline are in none
// (kernel/cgroup/cpuset.c).
// - An idle cgroup has no shares to be set (sched_group_set_shares). And two rules of our own. A container with
//   exclusive CPUs is not throttled on them. If minima of memory add up to no more than the minimum of the cgroup
//   around at both ends, they do so after each write (the kernel would take more, and give each less than its setting,
//   mm/page_counter.c, effective_protection). Pure. [any thread]
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/knob/knob.hpp"
#include "core/knob/step.hpp"

namespace koord::knob {

// The kernel's values around the steps. Unknown values are taken as no obstacle.
struct Surroundings {
  // Knobs that are not written themselves, by cgroup and resource.
  std::map<std::pair<std::string, std::string>, std::pair<const Knob*, Value>> values;
  bool nested_quotas = false;  // as v1 has it
  bool nested_sets = false;
  CpuSet online;                 // empty: not known
  std::set<std::string> pinned;  // cgroups of containers with exclusive CPUs
};

struct PlannedWrite {
  Step* step;
  Value value;
};

// Alters the targets, and refuses, as the rules say: `altered` and `conflict` of the steps.
std::vector<PlannedWrite> plan_writes(std::span<Step* const> steps, const Surroundings& around);

// A quota's share of the period as the kernel compares it, in 2^-20.
std::int64_t share_of(const Value& bandwidth);

}  // namespace koord::knob
