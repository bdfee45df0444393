// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/memory/numa_stat_file.hpp"

namespace koord::memory {

NumaNodes numa_nodes(const koord_topology* topology) {
  NumaNodes nodes;
  if (!topology) return nodes;
  for (const koord_numa_node& node :
       plugin::Strided<koord_numa_node>(topology->numa_nodes, topology->n_numa_nodes, topology->numa_node_stride)) {
    const std::string name = "N" + std::to_string(node.id);
    nodes.push_back({node.id, "anon " + name, "unevictable " + name});
  }
  return nodes;
}

NumaStatFile::NumaStatFile(const NumaNodes& nodes) {
  if (nodes.size() < 2) return;
  for (const NumaNode& node : nodes)
    nodes_.push_back({node.id, {"memory.numa_stat", {node.anon_key, node.unevictable_key}}});
}

std::vector<NumaUsage> NumaStatFile::read_new(const koord_host* host, const koord_svc_cgroup* cgroup,
                                              std::string_view dir, std::uint64_t now_ns) {
  std::vector<NumaUsage> usage;
  for (Node& node : nodes_) {
    const auto reading = node.values.read(host, cgroup, dir, now_ns);
    if (!reading || reading->read_ns == node.given_ns) continue;
    node.given_ns = reading->read_ns;
    const auto& values = reading->values;
    if (values[0] == KOORD_ABSENT || values[1] == KOORD_ABSENT) continue;
    usage.push_back({node.id, static_cast<double>(values[0]) + static_cast<double>(values[1])});
  }
  return usage;
}

}  // namespace koord::memory
