// SPDX-License-Identifier: Apache-2.0
// What of a snapshot CPU burst goes by: the pods that may burst, and which CPUs and whose use of them are not the shared pool's.
// Pure: of records of koord.state/1, nothing else is asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/qos-cpu-burst/cpu_burst.hpp"

namespace koord::cpu_burst {

struct Snapshot {
  std::vector<Pod> pods;                     // without figures
  std::vector<std::string> problems;         // of their annotations
  std::vector<std::uint64_t> outside;        // handles of pods whose use is not the shared pool's
  double exclusive_cores = 0;                // that pods of LSE and LSR request
};

// By their labels: a pod without one shares the pool, whatever its Kubernetes class, unless that is BestEffort.
Snapshot snapshot_of(plugin::Strided<koord_pod> pods, const slo::CpuBurst& node);

// Of what is online; 0: not known.
double cores_of(const koord_topology* topology);

}  // namespace koord::cpu_burst
