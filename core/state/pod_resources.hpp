// SPDX-License-Identifier: Apache-2.0
// What a pod and its containers ask for and may use, as Kubernetes reckons it: resizing in place, sidecars, init containers,
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

// What a container has beside its spec while it is resized in place.
struct Resize {
  std::vector<Resource> actual;  // what its cgroup has
  Amounts allocated;             // what the kubelet has granted
  bool infeasible = false;       // the spec cannot be had on this node and does not count
};

// The request is the most of spec, granted and actual; the limit is the actual one where there is one.
void apply_resize(const Resize& resize, std::vector<Resource>& resources);

// What the scheduler reckons for the containers of a pod: the sum of those that run for its life, or what an init
// container takes where that is more. There is a limit only when every container has one, as the pod's cgroup has.
std::vector<Resource> sum_resources(const std::vector<Container>& containers);

// The same, with what the pod states for all its containers together, which goes before their sum, and what running the pod
// itself costs.
std::vector<Resource> pod_resources(const std::vector<Container>& containers, const std::vector<Resource>& stated,
                                    const Amounts& overhead);

}  // namespace koord::state
