// SPDX-License-Identifier: Apache-2.0
// Realistic machines: writes /sys/devices/system/{cpu,node}, /proc/cpuinfo and /proc/meminfo of common server types
// into a fake node's tree.
//
//   FakeNode node;
//   lay_out(node, two_sockets_with_threads());
//   lay_out(node, without_cpus(two_sockets_with_threads(), {3, 7}));   // later: two CPUs are offline
#pragma once

#include <cstdint>
#include <vector>

#include "test/support/fake_node.hpp"

namespace koord::test {

struct Machine {
  unsigned sockets = 1;
  unsigned numa_nodes = 1;  // total number; CPUs of one memory node, and of one socket, have consecutive numbers
  unsigned cores = 2;       // total number
  unsigned threads = 1;     // number per core; the second threads of all cores are numbered after the first threads
  std::vector<unsigned> offline = {};
  bool has_numa = true;                  // built with CONFIG_NUMA
  bool is_arm64 = false;                 // else x86-64; has no "model name", no cache ids, and odd package ids
  unsigned page_kib = 4;                 // sets the huge page sizes
  unsigned generic_initiators = 0;       // accelerators: memory nodes after the others, without CPUs and memory
  std::uint64_t memory_kib = 16u << 20;  // size of each memory node

  unsigned cpus() const { return cores * threads; }
};

// 2 sockets, 2 memory nodes, 8 cores, 16 CPUs.
Machine two_sockets_with_threads();
// 2 sockets, 8 cores, 8 CPUs.
Machine hyper_threads_off();
// The same machine with these CPUs offline.
Machine without_cpus(Machine machine, std::vector<unsigned> offline);
// 4 CPUs, a kernel without NUMA.
Machine without_numa();
// 1 socket divided into 4 memory nodes, 16 cores.
Machine four_numa_nodes();
// 2 sockets of Neoverse-N1, 8 cores.
Machine arm64_server();
// The same machine and a kernel with 64 KiB pages, hence huge pages of 2 MiB, 512 MiB and 16 GiB.
Machine arm64_with_64k_pages();
// 2 memory nodes with CPUs, and a third memory node that belongs to an accelerator.
Machine with_generic_initiator();

// Writes or overwrites the tree. Removes the files that an offline CPU does not have.
void lay_out(FakeNode& node, const Machine& machine);

}  // namespace koord::test
