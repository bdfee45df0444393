// SPDX-License-Identifier: Apache-2.0
// The CPU that best-effort pods may use next to other pods, and the intents for it. The formulas are koordlet's except
// where the README says otherwise. Pure: values in, intents out; the state from one round to the next is a value, too.
// Times in nanoseconds of any one clock. [any thread]
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
  cpu_idle,   // only otherwise idle time; the kernel ensures that, whatever the load is
};

// Where the best-effort pods are.
struct Targets {
  std::vector<std::string> classes;     // cgroups of the Kubernetes class BestEffort with pods in them; usually one
  std::vector<std::string> pods;        // that lie elsewhere
  std::vector<std::string> containers;  // that run in any of them, except for sandboxes
  bool cpus_of_parents = false;         // a cgroup has no CPUs that its parent has not: cgroup v2
  std::vector<std::string> whole_pods;  // those of `pods` that run and have no containers' cgroups in theirs

  bool empty() const { return containers.empty() && whole_pods.empty(); }
};

struct Inputs {
  std::uint64_t now_ns = 0;
  Policy policy = Policy::cpuset;
  std::int64_t threshold_percent = 65;      // of the capacity: maximum for all pods together
  std::optional<std::int64_t> min_percent;  // of the capacity: minimum for best-effort pods
  std::int64_t capacity_milli = 0;
  usage::Split use;  // cores
  Pools pools;
  Targets targets;
};

struct Settings {
  // An increase waits until there was room for it for this time without a break; 0: no wait. A decrease never waits.
  std::uint64_t hold_ns = 30'000'000'000;
};

// State from round to round; a fresh one if nothing was proposed.
struct Memory {
  std::deque<std::pair<std::uint64_t, std::int64_t>>
      budgets;                           // by time, of the last hold_ns; each less than those behind it
  std::optional<std::size_t> cpus;       // the number proposed
  std::optional<std::int64_t> quota_us;  // the quota proposed
};

struct Round {
  std::int64_t budget_milli = 0;              // now; below 0: the others alone use more than the threshold
  std::int64_t held_milli = 0;                // the least budget of the last hold_ns, which is used
  std::optional<std::int64_t> granted_milli;  // the total of the proposals; nothing: no bound
  strategy::Intents intents;
  std::string problem;  // why an expected proposal is missing; empty: none
};

// capacity · threshold − what others than best-effort pods use, and at least capacity · min.
std::int64_t budget_milli(const Inputs& inputs);

Round plan(const Inputs& inputs, const Settings& settings, Memory& memory);

}  // namespace koord::cpu_suppress
