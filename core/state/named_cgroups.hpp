// SPDX-License-Identifier: Apache-2.0
// Pods of a file that say themselves which cgroups are theirs, for nodes without a kubelet: a systemd slice, a service. By
// annotations of the pod, one for itself and one for each of its containers. Only a file is believed: in a cluster whoever makes
// a pod could name any cgroup. Pure. [any thread]
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

// Pods without such an annotation stay as they are. Of one that has some no other cgroup is known, and what its status does not
// say runs. An error names the pod, what was found and what is expected.
Result<void> take_named_cgroups(std::vector<Pod>& pods);

}  // namespace koord::state
