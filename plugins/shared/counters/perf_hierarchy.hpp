// SPDX-License-Identifier: Apache-2.0
// Finds the hierarchy with the directories that name cgroups to perf_event_open(2) by descriptor. [any thread]
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::performance {

// Returns the root of the v1 hierarchy with perf_event, alone or with other controllers ("net_cls,perf_event"), or, if
// there is no such hierarchy, the root of the v2 tree. `cgroup_root`: directory where the trees are mounted.
Result<std::string> find_perf_hierarchy(const std::string& cgroup_root);

}  // namespace koord::performance
