// SPDX-License-Identifier: Apache-2.0
// Computes the batch and mid resources of a node: its capacity minus a margin, the usage of the system, and the pods
// with priority over batch. Formulas and special cases are Koordinator's (README.md lists the differences). Pure. [any
// thread]
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/manager/colocation.hpp"
#include "core/manager/node_usage.hpp"
#include "core/state/snapshot.hpp"

namespace koord::manager {

// The amounts of a node that do not depend on its load.
struct NodeSize {
  CpuMemory capacity;
  CpuMemory reserved;        // reserved for the system: the larger of the kubelet's and the annotation's value
  double normalization = 1;  // factor for batch CPU if the node's CPUs are faster than the cluster's reference

  bool operator==(const NodeSize&) const = default;
};

// Adds a problem for an invalid annotation, and ignores the annotation.
NodeSize node_size(const state::Node& node, std::vector<std::string>& problems);

// Sums over the pods with priority over batch. The pod list and the report may differ, because a pod may lack a report,
// and a report may have pods that no longer exist.
struct Demand {
  CpuMemory used, requested, most_of_both;
};
Demand demand_of(const std::map<std::string, PodFacts, std::less<>>& pods, const NodeUsage& usage);

// Return the amounts as published, CPU in thousandths of a core.
CpuMemory batch_resources(const NodeSize& node, const Colocation& colocation, const Demand& demand,
                          const NodeUsage& usage);
CpuMemory mid_resources(const NodeSize& node, const Colocation& colocation, const Demand& demand,
                        const NodeUsage& usage);

}  // namespace koord::manager
