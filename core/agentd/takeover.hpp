// SPDX-License-Identifier: Apache-2.0
// Finds the values that a removed koordlet has left in the cgroups of a node, and the bases of these knobs. The bases
// are computed from the specs of the pods and the defaults of the kubelet, never from the found values. Pure: uses a
// snapshot and readings. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/cgroup/names.hpp"
#include "core/knob/knob.hpp"
#include "core/knob/subjects.hpp"
#include "core/state/snapshot.hpp"

namespace koord::agentd {

// One knob of one cgroup that koordlet writes, and how to find its base.
struct TakeoverPlace {
  enum class Rule : std::uint8_t {
    fixed,  // the base is the member `fixed`
    quota,  // the base is the limit of the spec
    cpus,   // the base is the set of the cgroup of all pods
  };

  decision::Level level = decision::Level::qos;
  std::string cgroup_dir = {};
  const knob::Knob* knob = nullptr;
  std::string pod = {}, container = {};  // "namespace/name"; empty: a class
  Rule rule = Rule::fixed;
  std::string fixed = {};  // as a strategy would propose it; without the item if the knob has items
  std::string why = {};
  std::optional<std::int64_t> batch_milli = {};  // limit of batch-cpu, which koordlet turns into a quota
};

// The cgroup of all pods, the cgroup of the class Burstable, and the cgroup of the class BestEffort.
struct KubeDirs {
  std::string all, burstable, best_effort;
};
KubeDirs kube_dirs_of(const cgroup::KubeRoot& root);

// The available knowledge about the pods on the node.
enum class PodKnowledge : std::uint8_t {
  nothing,  // no list of pods was received yet
  cgroups,  // pods are found in the cgroup tree, so the limits in their specs are unknown
  specs,
};

// Returns the knobs of the cgroups of classes and of pods that have not ended, the outer cgroups first. Without specs
// it leaves out knobs with a base that depends on a spec; if nothing is known, it leaves out all cgroups of pods.
std::vector<TakeoverPlace> takeover_places(const state::Snapshot& snapshot, const KubeDirs& dirs, PodKnowledge known);

// Returns the number of pods that have not ended.
std::size_t count_active_pods(const state::Snapshot& snapshot);

struct StaleValue {
  TakeoverPlace place;
  knob::Value value, base;
  std::string why;  // the source of the base
};

// Returns nullopt if `now` is the right value, or if the spec does not determine it. `cpus`: the CPUs that all pods may
// use; a cgroup without a set of its own uses these CPUs. The subjects must come from the same snapshot.
std::optional<StaleValue> stale_value_at(const TakeoverPlace& place, const knob::Value& now,
                                         const knob::Subjects& subjects, const CpuSet& cpus);

// Returns whether koordlet makes a resctrl group of this name.
bool is_group_of_koordlet(std::string_view group);

}  // namespace koord::agentd
