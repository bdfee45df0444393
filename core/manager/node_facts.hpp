// SPDX-License-Identifier: Apache-2.0
// The part of a Node object that the controllers read, as JSON. Other parts are removed, because a kubelet changes them
// often and a cluster may have thousands of nodes. [any thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/manager/node_usage.hpp"
#include "core/state/snapshot.hpp"

namespace koord::manager {

// Returns a Node with only its names, labels, resources and the annotations below node.koordinator.sh. Returns the text
// unchanged if it cannot be parsed.
std::string trim_node(std::string_view object);

// A pair of resource names: "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory".
struct ResourcePair {
  std::string_view cpu, memory;
};
inline constexpr ResourcePair kBatch{"kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"};
inline constexpr ResourcePair kMid{"kubernetes.io/mid-cpu", "kubernetes.io/mid-memory"};

// Returns the allocatable amounts; nullopt if the node has neither resource.
std::optional<CpuMemory> published(const state::Node& node, const ResourcePair& names);

// A change of a node's extended resources; nullopt removes the pair.
struct Offer {
  ResourcePair names;
  std::optional<CpuMemory> amount;
};
// Returns the merge patch for the status of the Node.
std::string status_patch(const std::vector<Offer>& offers);

}  // namespace koord::manager
