// SPDX-License-Identifier: Apache-2.0
// The batch and mid resources of a node: its capacity less a margin, the system and the pods that go before batch.
// Formulas and special cases are Koordinator's (README.md lists the differences). Pure. [any thread]
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

// A node's amounts that do not change with its load.
struct NodeSize {
  CpuMemory capacity;
  CpuMemory reserved;        // for the system: the most of the kubelet's and the annotation's
  double normalization = 1;  // of batch CPU, where the node's CPUs are faster than the cluster's reference

  bool operator==(const NodeSize&) const = default;
};

// An annotation that is invalid is a problem, and counts as missing.
NodeSize node_size(const state::Node& node, std::vector<std::string>& problems);

// Sums over the pods that go before batch, of which not all are in the report, and not all in the report still exist.
struct Demand {
  CpuMemory used, requested, most_of_both;
};
Demand demand_of(const std::map<std::string, PodFacts, std::less<>>& pods, const NodeUsage& usage);

// As they are published, CPU in thousandths of a core.
CpuMemory batch_resources(const NodeSize& node, const Colocation& colocation, const Demand& demand,
                          const NodeUsage& usage);
CpuMemory mid_resources(const NodeSize& node, const Colocation& colocation, const Demand& demand,
                        const NodeUsage& usage);

}  // namespace koord::manager
