// SPDX-License-Identifier: Apache-2.0
// The files of /proc and /sys that tell what the node is made of, as plain values. Nothing is run.
#pragma once

#include <vector>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "plugins/advisor-node-info/node_info.hpp"

namespace koord::node_info {

// Completes what the state's topology has said of the online CPUs (-1: it does not tell), in the order of their numbers.
CpuFacts read_cpu_facts(const NodeRoots& roots, std::vector<Processor> online);

// Of these NUMA nodes; a kernel without NUMA has the node 0 with all memory. The error names the file.
Result<std::vector<MemoryNode>> read_memory_nodes(const NodeRoots& roots, const std::vector<std::uint32_t>& ids);

}  // namespace koord::node_info
