// SPDX-License-Identifier: Apache-2.0
// Processes of plugins with an agent that has ended. An agent holds a shared lock on each cgroup of its plugins; the
// kernel drops that lock when the agent ends, however it ends. Parents are no sign: an orphan's parent is process 1 on
// one machine and the container runtime's shim on another. [any thread]
#pragma once

#include <cstddef>
#include <string>

#include "core/base/unique_fd.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::child {

// Takes the shared lock on the cgroup in this directory; an empty descriptor when the directory is missing.
UniqueFd lock_cgroup(const std::string& directory);

// Returns whether an agent, this one included, holds the lock on the cgroup. Also true if the directory is missing.
bool is_locked(const std::string& directory);

// Kills all processes in cgroups of plugins that no agent has locked, waits until they are gone, and removes those
// cgroups. On cgroup v2 these are also the cgroups below the own one. To be called before the agent has children.
// Returns the number of processes.
std::size_t end_orphans(const cgroup::Layout& layout);

}  // namespace koord::child
