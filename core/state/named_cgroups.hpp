// SPDX-License-Identifier: Apache-2.0
// Pods of a file that name their own cgroups, for nodes without a kubelet: a systemd slice, a service. By annotations
// of the pod, one for itself and one for each of its containers. Only a file is trusted: in a cluster any author of a
// pod could name any cgroup. Pure. [any thread]
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

// "batch.slice", relative to the hierarchy's root; of a container: "koordetector.sh/cgroup-dir.NAME".
inline constexpr std::string_view kCgroupAnnotation = "koordetector.sh/cgroup-dir";

// The pod has such an annotation.
bool names_cgroups(const Pod& pod);

// Pods without such an annotation stay as they are. A pod that has one gets no other cgroup, and its containers count
// as running if their status is missing. An error names the pod, the found and the expected value.
Result<void> take_named_cgroups(std::vector<Pod>& pods);

}  // namespace koord::state
