// SPDX-License-Identifier: Apache-2.0
// One Pod object of Kubernetes to our Pod, defaults filled in. For the sources of this folder only. [any
// thread]
#pragma once

#include <span>

#include "core/base/result.hpp"
#include "core/cgroup/names.hpp"
#include "core/state/document.hpp"
#include "core/state/json_items.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

// What read_pod() looks at.
extern const std::span<const Wanted> kWantedOfPod;

Result<Pod> read_pod(const Field& object, const cgroup::KubeRoot& root);

}  // namespace koord::state
