// SPDX-License-Identifier: Apache-2.0
// One Pod object of Kubernetes to our Pod, defaults filled in. For the sources of this folder only. [any
// thread]
#pragma once

#include "core/base/result.hpp"
#include "core/cgroup/names.hpp"
#include "core/state/document.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

Result<Pod> read_pod(const Field& object, const cgroup::KubeRoot& root);

// What the scheduler reckons for the containers of a pod: the sum of those that run for its life, or what an
// init container takes where that is more. There is a limit only when every container of the pod's life has
// one.
std::vector<Resource> sum_resources(const std::vector<Container>& containers);

}  // namespace koord::state
