// SPDX-License-Identifier: Apache-2.0
// Requests and limits of a pod and its containers by Kubernetes' rules: resizing in place, sidecars, init containers,
// amounts stated for the whole pod, overhead. Pure; for the sources of this folder only. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/state/document.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

using Amounts = std::map<std::string, std::int64_t, std::less<>>;

// `requests` and `limits` of a mapping such as `resources`, by name.
Result<std::vector<Resource>> read_resources(const Field& field);

// The status of a container that is resized in place. Its amounts are those that the kubelet reads from the runtime: a
// runtime hook may have put its own there, and the kubelet adds cpu and memory where a hook gave these without a spec.
struct Resize {
  std::vector<Resource> actual;  // of the running container
  Amounts allocated;             // granted by the kubelet
  bool is_pending = false;       // the kubelet has not granted the amounts of the spec
  bool is_infeasible = false;    // they do not fit on this node and do not count
};

// Changes amounts that the spec has. The request is the largest of spec, granted and actual. The limit is that of the
// spec, and while the resize is pending the actual one. So it falls as soon as the kubelet grants a smaller limit, and
// before the runtime has to write it.
void apply_resize(const Resize& resize, std::vector<Resource>& resources);

// The scheduler's sum for the containers of a pod: the sum of those that run as long as the pod, or the amount of an
// init container if that is more. There is a limit only when every container has one, as for the pod's cgroup.
std::vector<Resource> sum_resources(const std::vector<Container>& containers);

// The same, with what the pod states for all its containers together, which goes before their sum, and what running the
// pod itself costs.
std::vector<Resource> pod_resources(const std::vector<Container>& containers, const std::vector<Resource>& stated,
                                    const Amounts& overhead);

}  // namespace koord::state
