// SPDX-License-Identifier: Apache-2.0
// Finds the directories that name cgroups to perf_event_open(2) by descriptor. [any thread]
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace koord::performance {

// The root of the tree: that of the v1 hierarchy with perf_event, be it alone or with others ("net_cls,perf_event"),
// else the v2 tree, to which the controller belongs when no v1 hierarchy has it. `cgroup_root`: where the trees are
// mounted.
Result<std::string> find_perf_hierarchy(const std::string& cgroup_root);

}  // namespace koord::performance
