// SPDX-License-Identifier: Apache-2.0
// Finds the owner of a process: the container and the pod that own its cgroup or an ancestor of it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace koord::gpu {

// Handles of koord.state/1.
struct Owner {
  std::optional<std::uint64_t> container, pod;

  bool operator==(const Owner&) const = default;
};

// Owners by cgroup directory, relative to the hierarchy's root.
using Owners = std::unordered_map<std::string, Owner>;

// Returns the owner of the nearest directory at or above the process's path, from the first line with an owner.
// `cgroup_file`: text of /proc/<pid>/cgroup, a line "id:controllers:path" for each hierarchy.
std::optional<Owner> owner_of(std::string_view cgroup_file, const Owners& owners);

}  // namespace koord::gpu
