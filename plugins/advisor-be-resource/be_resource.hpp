// SPDX-License-Identifier: Apache-2.0
// What the best-effort pods of a node may use, ask for and use, in milli-cores. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/cpu_set.hpp"

namespace koord::be_resource {

// The CPUs on which best-effort pods can run: those of any of their containers, and of these only what the
// directory of the class has. The directory's when no container tells of any of them.
CpuSet usable_cpus(const CpuSet& directory, const std::vector<CpuSet>& containers);

// Of cpu.max. A quota of -1 is none.
struct CpuMax {
  std::int64_t quota_us = -1, period_us = 0;
};

// What the class can use at most: the smaller of its CPUs and its quota. Nothing when neither is known.
std::optional<double> real_limit_milli(std::optional<std::size_t> cpus, std::optional<CpuMax> max);

// One container of a pod.
struct Container {
  bool runs_beside = true;  // a regular container or a sidecar; not init, ephemeral or sandbox
  std::optional<std::int64_t> batch_cpu_milli;
};
struct Pod {
  bool is_best_effort = false;
  bool has_ended = false;    // Succeeded or Failed: it uses nothing any more
  bool object_known = true;  // its API object is; the cgroup tree alone tells no requests
  std::vector<Container> containers;
};

// What the best-effort pods ask for: batch-cpu of the containers that run beside one another; a container
// without it asks for nothing. Nothing while there is a pod whose requests are not known.
std::optional<double> requested_milli(const std::vector<Pod>& pods);

}  // namespace koord::be_resource
