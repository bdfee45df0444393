// SPDX-License-Identifier: Apache-2.0
// Ends everything that runs in a cgroup, by membership: a process that has daemonised is still a member. A process that
// forks faster than it can be killed is stopped first, by cgroup.kill (Linux 5.14), cgroup.freeze (5.2) or pids.max,
// whichever the tree has. A pid is never signalled by its number, which may belong to another process by then. [any
// thread]
#pragma once

#include <cstddef>
#include <string>

#include "core/base/clock.hpp"

namespace koord::child {

struct EndedProcesses {
  std::size_t count = 0;  // distinct processes that were members
  bool all = true;        // none is left
};

// `directory`: of a cgroup, with everything below it. Returns early when it is empty or missing.
EndedProcesses end_processes(const std::string& directory, Duration patience);

// Removes the cgroup and everything below it, as far as no process is left in it.
void remove_cgroup(const std::string& directory);

// Returns whether a process is in the cgroup or below it.
bool has_processes(const std::string& directory);

}  // namespace koord::child
