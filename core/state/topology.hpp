// SPDX-License-Identifier: Apache-2.0
// The node's CPUs and memory nodes, from sysfs. Reading again after a hot-plug is the caller's business; the
// Hub sees whether anything changed. [any thread]
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"

namespace koord::state {

struct Cpu {
  std::int32_t cpu = 0;
  std::int32_t core = -1;  // unique on the node, numbered by their first CPU; -1 for what an offline CPU hides
  std::int32_t socket = -1;
  std::int32_t numa_node = 0;
  std::int32_t l3 = -1;  // the kernel's cache id, which resctrl uses too
  bool online = false;
  bool reserved = false;

  bool operator==(const Cpu&) const = default;
};

struct NumaNode {
  std::int32_t id = 0;
  std::int64_t memory_bytes = 0;

  bool operator==(const NumaNode&) const = default;
};

struct Topology {
  std::vector<Cpu> cpus;  // by number
  std::vector<NumaNode> numa_nodes;
  // MemTotal of the node; hot-plugged memory may belong to no memory node. 0 if /proc does not have it.
  std::int64_t memory_bytes = 0;

  bool operator==(const Topology&) const = default;
};

// `reserved`: CPUs that workloads must leave alone, as configuration or the Node object say.
Result<Topology> read_topology(const NodeRoots& roots, const CpuSet& reserved = {});

}  // namespace koord::state
