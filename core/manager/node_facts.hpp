// SPDX-License-Identifier: Apache-2.0
// The part of a Node object that the controllers read, as JSON: a kubelet changes the other parts all the time, and a
// cluster may have thousands of nodes. [any thread]
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/manager/node_usage.hpp"
#include "core/state/snapshot.hpp"

namespace koord::manager {

// A Node with its names, labels, resources and the annotations below node.koordinator.sh; the text itself if it cannot
// be read.
std::string trim_node(std::string_view object);

// A pair of resource names: "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory".
struct ResourcePair {
  std::string_view cpu, memory;
};
inline constexpr ResourcePair kBatch{"kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"};
inline constexpr ResourcePair kMid{"kubernetes.io/mid-cpu", "kubernetes.io/mid-memory"};

// The allocatable amounts; nullopt: the node has neither.
std::optional<CpuMemory> published(const state::Node& node, const ResourcePair& names);

// A change of what a node offers; nullopt removes the pair.
struct Offer {
  ResourcePair names;
  std::optional<CpuMemory> amount;
};
// The merge patch for the Node's status.
std::string status_patch(const std::vector<Offer>& offers);

}  // namespace koord::manager
