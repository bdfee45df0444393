// SPDX-License-Identifier: Apache-2.0
// One Pod object of Kubernetes to our Pod, defaults filled in. For the sources of this folder only. [any
// thread]
#pragma once

#include <span>
#include <string_view>

#include "core/base/result.hpp"
#include "core/cgroup/names.hpp"
#include "core/json/items.hpp"
#include "core/state/document.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

// Members that read_pod() uses.
extern const std::span<const JsonWanted> kWantedOfPod;

// Without its cgroups.
Result<Pod> read_pod(const Field& object);

// The cgroup directories of the pod and its containers. A mirror pod lies where its static pod does: its own uid is the
// API server's. A pod counts as a mirror pod if it looks as the kubelet of this node makes them: owned by the Node
// (`node`, when that is known), from a static source, named after a hash, which no uid of an ordinary pod is. Fails for
// a uid that would lead out of the kubelet's directory; an id of an unknown runtime has no directory.
Result<void> place_in_cgroups(Pod& pod, const cgroup::KubeRoot& root, std::string_view node = {});

// Drops the annotations about a static source from a pod of the API server, unless it is a mirror pod of this node: any
// client that may create pods may write them. Not for pods that a kubelet lists: it writes the source itself.
void drop_forged_source(Pod& pod, std::string_view node);

}  // namespace koord::state
