// SPDX-License-Identifier: Apache-2.0
// The last tier of eviction: containers end by SIGKILL to all processes of their cgroups, which is what a runtime does
// that is asked to stop one without patience (StopContainer of the CRI with timeout 0), and what kubelet and runtime
// see as any other end of a container. This agent speaks no gRPC, so it does not ask the runtime. By the pod's
// restartPolicy its containers may come back: the pod stays. The agent has to see the node's processes (hostPID) and to
// be allowed to end them. Blocks for a moment. [any thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/cgroup/layout.hpp"
#include "core/state/pod.hpp"

namespace koord::evict {

// All processes of the cgroup and of those below it. An error: some are left, and why.
Result<void> kill_cgroup(const cgroup::Layout& layout, std::string_view cgroup_dir);

// Its running containers, init containers and sidecars among them, but not its sandbox. One that cannot be ended keeps
// no other.
Result<void> kill_containers(const cgroup::Layout& layout, const state::Pod& pod);

// Percent of the time of the last 10 s in which all tasks of the node waited for memory; `text` is
// /proc/pressure/memory.
std::optional<double> full_memory_pressure(std::string_view text);

}  // namespace koord::evict
