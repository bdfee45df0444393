// SPDX-License-Identifier: Apache-2.0
// NumaStatFile: the memory that a cgroup uses on each NUMA node, from memory.numa_stat. The cgroup may be missing. The
// host reads this costly file less often than an advisor ticks; each reading is returned only once. On the instance's
// strand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "koordetector/subjects.hpp"

namespace koord::memory {

// The NUMA nodes to read, with their keys of the logical file. Must outlive the files created with it.
struct NumaNode {
  std::uint32_t id;
  std::string anon_key, unevictable_key;
};
using NumaNodes = std::vector<NumaNode>;
NumaNodes numa_nodes(const koord_topology* topology);  // empty while the topology is unknown

struct NumaUsage {
  std::uint32_t node;
  double bytes;
};

class NumaStatFile {
 public:
  // With fewer than two NUMA nodes the file is not read, because it is costly, and memory.stat has the values of the
  // only node.
  explicit NumaStatFile(const NumaNodes& nodes);

  // Returns anon + unevictable of each NUMA node: memory without page cache and slab, like usage_bytes() of the whole
  // cgroup. A node that is unknown to the kernel is left out. Empty if the cgroup or file is missing, or if the values
  // are not new. Throws plugin::Failure if the file exists but cannot be read.
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
