// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/cpu_set.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::interference {

struct UsableCpus {
  double number = 0;  // those of the cpuset, or less if the container's own quota or that of its pod allows less
  CpuSet set;         // the cpuset; empty: all
};

// Returns the CPUs that a container may use at most. Its pod is the cgroup above. Files that are missing limit nothing.
// [any thread]
UsableCpus usable_cpus(const cgroup::Layout& layout, const std::string& cgroup);

}  // namespace koord::interference
