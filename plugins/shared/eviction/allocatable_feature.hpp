// SPDX-License-Identifier: Apache-2.0
// The decision of koordlet's features CPUAllocatableEvict and MemoryAllocatableEvict. Pure. [any thread]
#pragma once

#include <string_view>

#include "plugins/shared/eviction/situation.hpp"

namespace koord::eviction {

// Adds demands for the feature if pods are promised more of the resource than the node's allocatable amounts permit.
// Adds the reason if the feature cannot decide. `thresholds`: from promise_thresholds(). The demands have pointers to
// the pods of the situation.
void decide_by_allocatable(std::string_view feature, Resource resource, const Result<Thresholds>& thresholds,
                           const Situation& situation, Decision& decision);

}  // namespace koord::eviction
