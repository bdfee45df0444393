// SPDX-License-Identifier: Apache-2.0
// State of a node for a plugin without an agent: from the Kubernetes objects at hand, completed from the node's trees.
// [any thread]
#pragma once

#include <string>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"

namespace koord::state {
class Hub;
}

namespace koord::workshop {

// A PodList, a Node and a NodeSLO as YAML or JSON; empty: not given.
struct StateTexts {
  std::string pods, node, node_slo;
};

Result<void> publish_state(const StateTexts& texts, const NodeRoots& roots, const std::string& node_name,
                           state::Hub& hub);

}  // namespace koord::workshop
