// SPDX-License-Identifier: Apache-2.0
// The values that koordlet leaves in the cgroups of a node when it goes, and the bases of these knobs: computed from
// the specs of the pods and the defaults of the kubelet, never from the values found. Pure: of a snapshot and of
// readings. [any thread]
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
    fixed,  // the base is `fixed`
    quota,  // the limit of the spec
    cpus,   // those of the cgroup of all pods
  };

  decision::Level level = decision::Level::qos;
  std::string cgroup_dir = {};
  const knob::Knob* knob = nullptr;
  std::string pod = {}, container = {};  // "namespace/name"; empty: a class
  Rule rule = Rule::fixed;
  std::string fixed = {};  // as a strategy would propose it; of a knob with items without the item
  std::string why = {};
  std::optional<std::int64_t> batch_milli = {};  // limit of batch-cpu, which koordlet turns into a quota
};

// The cgroups of all pods, and of the classes Burstable and BestEffort.
struct KubeDirs {
  std::string all, burstable, best_effort;
};
KubeDirs kube_dirs_of(const cgroup::KubeRoot& root);

// How much is known of the pods on the node.
enum class PodKnowledge : std::uint8_t {
  nothing,  // no list of pods has come yet
  cgroups,  // pods are found in the cgroup tree: whether a spec has a limit is unknown
  specs,
};

// Returns the cgroups of the classes and of all pods that have not ended, the outer cgroups first. Without specs the
// knobs are left out that a spec decides, with nothing known all cgroups of pods.
std::vector<TakeoverPlace> takeover_places(const state::Snapshot& snapshot, const KubeDirs& dirs, PodKnowledge known);

// Returns the number of pods that have not ended.
std::size_t count_active_pods(const state::Snapshot& snapshot);

struct StaleValue {
  TakeoverPlace place;
  knob::Value value, base;
  std::string why;  // where the base comes from
};

// nullopt: `now` is what the cgroup should have, or the spec does not decide it. `cpus`: those that all pods may use; a
// cgroup without a set of its own has them. The subjects are those of the same snapshot.
std::optional<StaleValue> stale_value_at(const TakeoverPlace& place, const knob::Value& now,
                                         const knob::Subjects& subjects, const CpuSet& cpus);

// The groups of resctrl that koordlet makes.
bool is_group_of_koordlet(std::string_view group);

}  // namespace koord::agentd
