// SPDX-License-Identifier: Apache-2.0
// NodeTopology: this node's NodeResourceTopology (topology.node.k8s.io/v1alpha1), and its merge into the object, which
// keeps the parts of other writers. Pure. [any thread] Members and rules are koordlet's; README.md lists the
// differences and their reasons.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/report/cpu_pools.hpp"
#include "core/state/snapshot.hpp"

namespace koord::report {

struct ZoneResource {
  std::int64_t capacity = 0;  // milli-cores or bytes
  std::int64_t allocatable = 0;
};

struct Zone {
  std::string name;                               // "node-0"
  std::map<std::string, ZoneResource> resources;  // "cpu", "memory", "hugepages-2Mi", …
};

struct NodeTopology {
  std::map<std::string, std::string> annotations;            // JSON texts
  std::map<std::string, std::optional<std::string>> labels;  // nullopt: must be missing
  std::string policy;                                        // "None", "SingleNUMANodePodLevel", …
  std::vector<Zone> zones;                                   // sorted by name
  std::string degraded;  // the annotation koordetector.sh/degraded; empty: must be missing
};

struct NodeTopologyInputs {
  const state::Snapshot& state;
  const CpuPools& pools;
  // The facts node_cpu_info and node_numa_info of advisor-node-info as JSON; empty: unknown, and their part is omitted.
  std::string cpu_info = {};
  std::string numa_info = {};
};

NodeTopology make_node_topology(const NodeTopologyInputs& inputs);

// Returns the object with our parts; nullopt if it already has them. Fails if `object` is not an object.
Result<std::optional<std::string>> merge_node_topology(const NodeTopology& ours, std::string_view object);
// Returns a new object for a node, without the parts that merge_node_topology() adds.
std::string new_node_topology(const state::Node& node);

}  // namespace koord::report
