// SPDX-License-Identifier: Apache-2.0
// Creation: a pod or container that a runtime is about to make, as hooks see it, and their answers as the runtime takes
// them. Pure. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/hook/composed_answers.hpp"
#include "core/hook/creation_file.hpp"
#include "core/hook/nri/types.hpp"
#include "core/host/hook_dispatcher.hpp"
#include "core/knob/intent.hpp"
#include "core/state/snapshot.hpp"

namespace koord::hook {

// The pod of the state; one that the state does not know yet, by the runtime's words: without a spec, the resources of
// its tier come from the annotation node.koordinator.sh/extended-resource-spec.
state::Pod pod_of(const nri::Pod& pod, const state::Snapshot& snapshot);
// The container of `pod` with this name, with the id and cgroup of the runtime.
state::Container container_of(const nri::Container& container, const state::Pod& pod);

// Returns it relative to the hierarchy's root; empty for a path that is not a cgroup's.
// "kubepods-pod1.slice:cri-containerd:ID", as runtimes write it with systemd, or "/kubepods/pod1/ID".
std::string cgroup_dir_of(std::string_view cgroups_path);

// A cgroup of the pod that has no intents, for the caps around a container without an id; empty: the pod has none.
std::string new_cgroup_of(const state::Pod& pod);

// Why hooks are not asked: the pod is the agent's own, belongs to the node, or has hands off. Empty: they are.
std::string why_bypassed(const state::Pod& pod, std::string_view own_uid);
// Whether the pod's owner excludes all that the plugin does.
bool is_hands_off(const state::Pod& pod, const std::string& plugin);
// Removes what the pod's owner excludes by the annotation, by knob or plugin.
void drop_hands_off(host::HookVerdict& verdict, const state::Pod& pod);

// Whether the container has CPUs of its own. For a pod that the state does not know yet, `requested` decides.
bool has_own_cpus(const state::Snapshot& snapshot, const state::Pod& pod, state::Container container,
                  const nri::Resources& requested);
// Removes factors that would throttle such a container, also those in shadow.
void drop_throttling(host::HookVerdict& verdict);

// The values that a container has instead of those in the runtime's request, after choose_settings(). On v2 a field
// without a place in NRI is a file of the cgroup; on v1 it is left to the kept answers.
nri::Resources resources_of(const host::HookVerdict& verdict, const nri::Resources& requested, bool is_v2,
                            const OtherPartsOf& others = {});
nri::Adjustment adjustment_of(const host::HookVerdict& verdict, const nri::Container& container, bool is_v2,
                              const OtherPartsOf& others = {});

// koord_hook_request.cri_json: the members of CRI's PodSandboxConfig or ContainerConfig that NRI has, without labels
// and annotations, which the request has already.
std::string cri_json_of(const nri::Pod& pod);
std::string cri_json_of(const nri::Container& container);

// The value that the runtime would have set, for each knob that the answers change.
std::vector<Unadjusted> unadjusted_of(const host::HookVerdict& verdict, const nri::Container& container);
// Returns the changes of a new container, for Creations. A container of a CRI request has no id.
CreationRecord record_of(const host::HookVerdict& verdict, const std::string& pod_uid, const nri::Container& container);

}  // namespace koord::hook
