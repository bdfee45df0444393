// SPDX-License-Identifier: Apache-2.0
// Reads the inputs of CPU burst from a snapshot: the pods that may burst, and the CPUs and usage outside the shared
// pool. Pure: uses only records of koord.state/1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/qos-cpu-burst/cpu_burst.hpp"

namespace koord::cpu_burst {

struct Snapshot {
  std::vector<Pod> pods;               // without measured values
  std::vector<std::string> problems;   // problems of their annotations
  std::vector<std::uint64_t> outside;  // handles of pods with usage outside the shared pool
  double exclusive_cores = 0;          // CPUs that LSE and LSR pods request
};

// Reads the pods. Their labels decide: a pod without a label shares the pool, whatever its Kubernetes class, except
// BestEffort.
Snapshot snapshot_of(plugin::Strided<koord_pod> pods, const slo::CpuBurst& node);

// Returns the number of online CPUs; 0: unknown.
double cores_of(const koord_topology* topology);

}  // namespace koord::cpu_burst
