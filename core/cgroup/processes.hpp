// SPDX-License-Identifier: Apache-2.0
// The processes of a cgroup and of all cgroups below it, from the cgroup.procs files of the kernel. [any thread]
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::cgroup {

// Returns process ids, ascending, each once, numbered by the PID namespace of this process. On v1 and hybrid nodes it reads
// the tree of the first controller that the node has. Cgroups that end meanwhile are left out.
// An empty name is an error (invalid_argument): it would be the root. std::errc::no_such_device: no such cgroup.
// std::errc::not_supported: processes exist, and none is visible from this PID namespace.
Result<std::vector<std::int32_t>> processes_below(const Layout& layout, std::string_view cgroup);

}  // namespace koord::cgroup
