// SPDX-License-Identifier: Apache-2.0
// NumaStatFile: how much memory of each NUMA node a cgroup uses, from memory.numa_stat; the cgroup may not be
// there. The host reads this costly file less often than an advisor ticks: each reading is given once. On the
// instance's strand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "koordetector/subjects.hpp"

namespace koord::memory {

// The NUMA nodes to ask for, with their keys of the logical file. Outlives the files that are made with it.
struct NumaNode {
  std::uint32_t id;
  std::string anon_key, unevictable_key;
};
using NumaNodes = std::vector<NumaNode>;
NumaNodes numa_nodes(const koord_topology* topology);  // none while it is not known

struct NumaUsage {
  std::uint32_t node;
  double bytes;
};

class NumaStatFile {
 public:
  // With fewer than two nodes the file is not read: it is costly, and memory.stat has the values of the only node.
  explicit NumaStatFile(const NumaNodes& nodes);

  // anon + unevictable of each node: memory without page cache and slab, as usage_bytes() has it for the whole. A node
  // that is unknown to the kernel is left out. Empty if the cgroup or file is missing, or the values are not new.
  // Throws plugin::Failure if the file exists and cannot be read.
  std::vector<NumaUsage> read_new(const koord_host* host, const koord_svc_cgroup* cgroup, std::string_view dir,
                                  std::uint64_t now_ns);

 private:
  struct Node {
    std::uint32_t id;
    plugin::CgroupValues<2> values;
    std::uint64_t given_ns = 0;
  };
  std::vector<Node> nodes_;
};

}  // namespace koord::memory
