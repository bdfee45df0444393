// SPDX-License-Identifier: Apache-2.0
// The cgroup that holds the cgroups of all plugins. It lies below the root of the hierarchy. On cgroup v2 it lies below
// the agent's own cgroup if the kernel refuses to move processes out of that (nsdelegate, for an agent in a cgroup
// namespace of its own), or if the agent may make no cgroup at the root (no CAP_DAC_OVERRIDE). [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::child {

inline constexpr std::string_view kPluginsCgroup = "koordetector-plugins";
// Holds the agent itself once its own cgroup holds those of plugins.
inline constexpr std::string_view kAgentCgroup = "koordetector-agent";

// Returns its directory, relative to the root of the hierarchy.
std::string plugins_cgroup(const cgroup::Layout& layout);

// Returns all directories that plugins_cgroup() may have returned to an agent that has ended: at the root, and on v2 in
// the own cgroup and in the one above it, where systemd runs the programs of ExecStopPost in the cgroup `.control` of a
// delegated unit.
std::vector<std::string> possible_plugins_cgroups(const cgroup::Layout& layout);

// Moves all processes of the agent's own cgroup to kAgentCgroup in it, because a v2 cgroup that has processes cannot
// enable controllers for its children. plugins_cgroup() then lies in the agent's own cgroup. Fails on v1.
Result<void> move_agent_aside(const cgroup::Layout& layout);

}  // namespace koord::child
