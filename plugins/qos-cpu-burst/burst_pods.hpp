// SPDX-License-Identifier: Apache-2.0
// Inputs of CPU burst from a snapshot: the pods that may burst, and the CPUs and usage outside the shared pool. Pure:
// uses only records of koord.state/1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/qos-cpu-burst/cpu_burst.hpp"

namespace koord::cpu_burst {

struct Snapshot {
  std::vector<Pod> pods;               // without figures
  std::vector<std::string> problems;   // of their annotations
  std::vector<std::uint64_t> outside;  // handles of pods with usage outside the shared pool
  double exclusive_cores = 0;          // that pods of LSE and LSR request
};

// By their labels: a pod without one shares the pool, whatever its Kubernetes class, unless that is BestEffort.
Snapshot snapshot_of(plugin::Strided<koord_pod> pods, const slo::CpuBurst& node);

// Counts the online CPUs; 0: unknown.
double cores_of(const koord_topology* topology);

}  // namespace koord::cpu_burst
