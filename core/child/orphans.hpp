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

// Takes the shared lock on the cgroup in this directory. Returns an empty descriptor if the directory is missing, also
// if another agent or child has removed it while this one waited for the lock: the cgroup must be made again then.
UniqueFd lock_cgroup(const std::string& directory);

enum class Removal { done, busy, locked };

// Removes a cgroup that has no lock. While it is removed no process can lock it. `done`: also if it is missing or
// cannot be removed at all; `busy`: it has processes or children; `locked`: an agent, this one included, holds the
// lock.
Removal remove_unlocked_cgroup(const std::string& directory);

// Kills all processes in cgroups of plugins that no agent has locked, waits until they are gone, and removes those
// cgroups. On cgroup v2 these are also the cgroups below the own one. To be called before the agent has children.
// Returns the number of processes.
std::size_t end_orphans(const cgroup::Layout& layout);

}  // namespace koord::child
