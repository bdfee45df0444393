// SPDX-License-Identifier: Apache-2.0
// The processes of a cgroup and of all cgroups below it, from the cgroup.procs files of the kernel. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::cgroup {

// Returns process ids, ascending, each once, numbered by the PID namespace of this process. On v1 and hybrid nodes it
// reads the tree of the first controller that the node has. Cgroups that end meanwhile are left out. An empty name is
// an error (invalid_argument): it would be the root. std::errc::no_such_device: no such cgroup.
// std::errc::not_supported: processes exist, and none is visible from this PID namespace.
Result<std::vector<std::int32_t>> processes_below(const Layout& layout, std::string_view cgroup);

// The processes of one directory of a cgroup tree and of the cgroups below it.
struct Members {
  std::vector<std::int32_t> pids;  // ascending, each once
  bool some_hidden = false;        // some are of another PID namespace and have no number in this one
};
// std::errc::no_such_device: no such directory. std::errc::argument_list_too_long: more than `max_cgroups` cgroups.
Result<Members> members_of(const std::string& directory, std::size_t max_cgroups = SIZE_MAX);

// Sends SIGKILL to those of `pids` that are still members of the directory. A number may belong to another process by
// now: the signal goes to a descriptor that was opened before the process was seen in the directory (Linux 5.3; by
// number before that).
void kill_members(const std::string& directory, std::span<const std::int32_t> pids);

}  // namespace koord::cgroup
