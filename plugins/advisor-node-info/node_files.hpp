// SPDX-License-Identifier: Apache-2.0
// Reads files of /proc and /sys about the node's hardware, as plain values. Executes no program.
#pragma once

#include <vector>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "plugins/advisor-node-info/node_info.hpp"

namespace koord::node_info {

// Reads the facts about the CPUs. `online`: the online CPUs, ordered by number. Their missing parts are filled in; -1
// if unknown.
CpuFacts read_cpu_facts(const NodeRoots& roots, std::vector<Processor> online);

// Reads these NUMA nodes; a kernel without NUMA has the node 0 with all memory. The error names the file.
Result<std::vector<MemoryNode>> read_memory_nodes(const NodeRoots& roots, const std::vector<std::uint32_t>& ids);

}  // namespace koord::node_info
