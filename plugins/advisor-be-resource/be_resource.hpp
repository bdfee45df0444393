// SPDX-License-Identifier: Apache-2.0
// Computes limit, requests and usage of a node's best-effort pods, in milli-cores. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/cpu_set.hpp"

namespace koord::be_resource {

// Returns the CPUs on which best-effort pods can run: the CPUs of `containers` that are also CPUs of the class's
// directory. If the CPUs of no container are known, returns the CPUs of the directory.
CpuSet usable_cpus(const CpuSet& directory, const std::vector<CpuSet>& containers);

// Content of cpu.max. A quota of -1 means no quota.
struct CpuMax {
  std::int64_t quota_us = -1, period_us = 0;
};

// Returns the maximum that the class can use, which is the smaller of its CPUs and its quota. nullopt: neither is
// known.
std::optional<double> real_limit_milli(std::optional<std::size_t> cpus, std::optional<CpuMax> max);

// One container of a pod.
struct Container {
  bool runs_beside = true;  // a regular container or a sidecar; not init, ephemeral or sandbox
  std::optional<std::int64_t> batch_cpu_milli;
};
struct Pod {
  bool is_best_effort = false;
  bool has_ended = false;    // Succeeded or Failed: it has no usage any more
  bool object_known = true;  // the API object is known; the cgroup tree alone has no requests
  std::vector<Container> containers;
};

// Returns the sum of the best-effort pods' requests. A pod requests batch-cpu of the containers that run at the same
// time. A container without batch-cpu requests nothing. nullopt: the requests of a pod are unknown.
std::optional<double> requested_milli(const std::vector<Pod>& pods);

}  // namespace koord::be_resource
