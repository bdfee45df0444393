// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/cpu_set.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::interference {

struct UsableCpus {
  double number = 0;  // size of the cpuset, or less if the quota of the container or its pod allows less
  CpuSet set;         // the cpuset; empty: all CPUs
};

// Returns the CPUs that a container may use at most. Its pod is the cgroup above. A missing file is no limit. [any
// thread]
UsableCpus usable_cpus(const cgroup::Layout& layout, const std::string& cgroup);

}  // namespace koord::interference
