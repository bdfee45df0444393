// SPDX-License-Identifier: Apache-2.0
// The walks behind CgroupSource: directory listings of the cgroup trees, and the meaning of their names. Directories
// that cannot be listed count as empty: cgroups come and go under a walk. For this folder only. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/cgroup/layout.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

// Child cgroups by name, with the inode of their directory.
using Children = std::map<std::string, std::uint64_t, std::less<>>;

Children list_children(const std::string& directory);

// The children of a cgroup in all trees in which workloads show; with v1 a cgroup may be in some of them
// only.
Children list_children(const cgroup::Layout& layout, const std::string& cgroup);

// Returns all pods below all kubepods directories. `runtime`: the scheme for ids if the directory does not show it.
std::vector<Pod> walk_pods(const cgroup::Layout& layout, const std::string& runtime);

// Containers of docker and podman and the systemd services.
std::vector<Container> walk_standalone(const cgroup::Layout& layout);

// The cgroups that match a path, each component of which may be a pattern with * and ?.
std::vector<Container> walk_pattern(const cgroup::Layout& layout, const std::string& path);

}  // namespace koord::state
