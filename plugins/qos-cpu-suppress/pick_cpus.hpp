// SPDX-License-Identifier: Apache-2.0
// Picks the CPUs of best-effort pods when their number is known: spread evenly over sockets, whole cores before halves
// of them. The rules are koordlet's. Pure. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/cpu_set.hpp"

namespace koord::cpu_suppress {

struct Cpu {
  std::uint32_t cpu = 0, core = 0, socket = 0, numa_node = 0;
};

// `count` of them; all when there are no more. Goes round the sockets (of a NUMA node each), the one with the most CPUs
// first, takes both threads of a core while two are wanted, and single CPUs for the rest.
CpuSet pick_cpus(std::size_t count, const std::vector<Cpu>& cpus);

// The owners of CPUs.
struct Pools {
  std::vector<Cpu> online;
  CpuSet lsr;       // of LSR pods, which share them with best-effort ones
  CpuSet excluded;  // of other pods that do not share, or kept free

  CpuSet usable() const;
};

// Picks `count` CPUs, or all usable ones if these are fewer. The CPUs of LSR pods and the shared CPUs contribute in
// proportion.
CpuSet pick_from_pools(std::size_t count, const Pools& pools);

}  // namespace koord::cpu_suppress
