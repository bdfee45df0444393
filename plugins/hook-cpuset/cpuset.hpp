// SPDX-License-Identifier: Apache-2.0
// Computes the CPUs of a container: the CPUs that the scheduler allocated to its pod, the CPUs of the class SYSTEM, or
// the CPUs that pods share. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/base/result.hpp"
#include "koordetector/plugin.hpp"

namespace koord::hook_cpuset {

inline constexpr std::string_view kAllocationAnnotation = "scheduling.koordinator.sh/resource-status";  // annotation of
                                                                                                        // a pod
inline constexpr std::string_view kSystemAnnotation = "node.koordinator.sh/system-qos-resource";        // annotation of
                                                                                                        // a Node

// The scheduler's decision about a pod.
struct Allocation {
  CpuSet cpus;
  std::vector<std::uint32_t> numa_nodes;  // NUMA nodes on which the pod has CPU time

  bool operator==(const Allocation&) const = default;
};

// Parses the annotation; an empty annotation is an empty allocation. An error names the annotation and what was
// expected.
Result<Allocation> parse_allocation(std::string_view annotation);
// Returns the CPUs of pods of the class SYSTEM; empty: the class has no exclusive CPUs.
Result<CpuSet> parse_system_cpus(std::string_view annotation);

// The online CPUs, in groups by the kind of pods that may use them.
struct Pools {
  CpuSet online, shared, best_effort;
  std::map<std::uint32_t, CpuSet> numa_nodes;
};

// Returns the pools of the NodeResourceTopology. CPUs that the kubelet's static policy assigned to pods are unknown
// here and not excluded.
Pools pools_of(plugin::Strided<koord_cpu> cpus);

struct PodFacts {
  std::string_view label;           // koordinator.sh/qosClass; empty: missing
  bool is_best_effort = false;      // whether the Kubernetes class is BestEffort
  bool may_own_statically = false;  // guaranteed, with whole CPUs requested
  Allocation allocation;
  std::int64_t request_milli = 0;  // request of the pod
};

struct Settings {
  bool has_static_policy = false;       // whether the kubelet's CPU manager has the static policy
  bool uses_best_effort_pools = false;  // only for BE pods with an allocation by NUMA node
  bool removes_quota = true;
};

struct Adjustment {
  std::optional<CpuSet> cpus;  // CPUs of the pod's containers
  bool has_no_quota = false;   // whether pod and containers lose their CPU quota
  std::string problem;

  bool operator==(const Adjustment&) const = default;
};

Adjustment adjust(const PodFacts& pod, const Pools& pools, const CpuSet& system, const Settings& settings);

}  // namespace koord::hook_cpuset
