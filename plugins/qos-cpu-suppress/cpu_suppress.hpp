// SPDX-License-Identifier: Apache-2.0
// Computes how much CPU best-effort pods may use while other pods run, and the intents for it. The formulas are
// koordlet's except where the README says otherwise. Pure: values in, intents out; the state between rounds is a value,
// too. Times in nanoseconds of one clock. [any thread]
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/qos-cpu-suppress/pick_cpus.hpp"
#include "plugins/qos-cpu-suppress/usage_split.hpp"
#include "plugins/shared/strategy/intent.hpp"

namespace koord::cpu_suppress {

enum class Policy : std::uint8_t {
  cpuset,     // fewer CPUs
  cfs_quota,  // less time on all CPUs
  cpu_idle,   // only otherwise idle time, which the kernel ensures under any load
};

// Cgroups of the best-effort pods.
struct Targets {
  std::vector<std::string> classes;     // cgroups of the Kubernetes class BestEffort that contain pods; usually one
  std::vector<std::string> pods;        // pods outside of these cgroups
  std::vector<std::string> containers;  // containers of all these pods, except for sandboxes
  bool cpus_of_parents = false;         // cgroup v2: a cgroup has no CPUs that its parent lacks
  std::vector<std::string> whole_pods;  // elements of `pods` that run and have no cgroups of containers

  bool empty() const { return containers.empty() && whole_pods.empty(); }
};

struct Inputs {
  std::uint64_t now_ns = 0;
  Policy policy = Policy::cpuset;
  std::int64_t threshold_percent = 65;      // percent of the capacity; maximum for all pods together
  std::optional<std::int64_t> min_percent;  // percent of the capacity; minimum for best-effort pods
  std::int64_t capacity_milli = 0;
  usage::Split use;  // cores
  Pools pools;
  Targets targets;
};

struct Settings {
  // An increase waits until there has been room for it for this time without interruption; 0: no wait. A decrease never
  // waits.
  std::uint64_t hold_ns = 30'000'000'000;
};

// State between rounds; default-constructed if nothing was proposed.
struct Memory {
  std::deque<std::pair<std::uint64_t, std::int64_t>> budgets;  // time and budget, of the last hold_ns; each budget is
                                                               // less than the later ones
  std::optional<std::size_t> cpus;                             // number of CPUs proposed
  std::optional<std::int64_t> quota_us;                        // the quota proposed
};

struct Round {
  std::int64_t budget_milli = 0;              // now; negative if other pods alone use more than the threshold
  std::int64_t held_milli = 0;                // the smallest budget of the last hold_ns, which is used
  std::optional<std::int64_t> granted_milli;  // sum of the proposals; nullopt: no limit
  strategy::Intents intents;
  std::string problem;  // why an expected proposal is missing; empty: none is missing
};

// Returns capacity · threshold − usage of everything except best-effort pods, and at least capacity · min.
std::int64_t budget_milli(const Inputs& inputs);

Round plan(const Inputs& inputs, const Settings& settings, Memory& memory);

}  // namespace koord::cpu_suppress
