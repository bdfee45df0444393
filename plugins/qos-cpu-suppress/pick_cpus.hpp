// SPDX-License-Identifier: Apache-2.0
// Picks a given number of CPUs for best-effort pods. The CPUs are spread evenly over sockets, and whole cores come
// before half cores. The rules are koordlet's. Pure. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/cpu_set.hpp"

namespace koord::cpu_suppress {

struct Cpu {
  std::uint32_t cpu = 0, core = 0, socket = 0, numa_node = 0;
};

// Picks `count` CPUs, or all if there are fewer. Iterates over the sockets (of each NUMA node); the socket with the
// most CPUs comes first. Takes both threads of a core while two CPUs are needed, then single CPUs.
CpuSet pick_cpus(std::size_t count, const std::vector<Cpu>& cpus);

// The CPUs by the pods that own or share them.
struct Pools {
  std::vector<Cpu> online;
  CpuSet lsr;       // CPUs of LSR pods, which share them with best-effort pods
  CpuSet excluded;  // CPUs of other pods that do not share, or kept free

  CpuSet usable() const;
};

// Picks `count` CPUs, or all usable CPUs if these are fewer. The CPUs of LSR pods and the shared CPUs contribute in
// proportion.
CpuSet pick_from_pools(std::size_t count, const Pools& pools);

}  // namespace koord::cpu_suppress
