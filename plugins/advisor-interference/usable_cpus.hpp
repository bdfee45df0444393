// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/cgroup/layout.hpp"

namespace koord::interference {

// Returns the CPUs that a container may use at most: those of its cpuset, or less if its own quota or that of its pod
// (the cgroup above) allows less. Files that are missing limit nothing. [any thread]
double usable_cpus(const cgroup::Layout& layout, const std::string& cgroup);

}  // namespace koord::interference
