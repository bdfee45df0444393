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

// The state of a container that differs from its spec while it is resized in place.
struct Resize {
  std::vector<Resource> actual;  // in its cgroup
  Amounts allocated;             // granted by the kubelet
  bool infeasible = false;       // the spec cannot be had on this node and does not count
};

// The request is the most of spec, granted and actual; the limit is the actual one where there is one.
void apply_resize(const Resize& resize, std::vector<Resource>& resources);

// The scheduler's sum for the containers of a pod: the sum of those that run as long as the pod, or the amount of an
// init container if that is more. There is a limit only when every container has one, as for the pod's cgroup.
std::vector<Resource> sum_resources(const std::vector<Container>& containers);

// The same, with what the pod states for all its containers together, which goes before their sum, and what running the
// pod itself costs.
std::vector<Resource> pod_resources(const std::vector<Container>& containers, const std::vector<Resource>& stated,
                                    const Amounts& overhead);

}  // namespace koord::state
