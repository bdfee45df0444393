// SPDX-License-Identifier: Apache-2.0
// Capabilities of this node, found out by trying: loading a trivial BPF program, opening a counter, reading a pressure
// file. Done once at start; it takes milliseconds and changes nothing on the node.
#pragma once

#include <vector>

#include "core/base/node_roots.hpp"
#include "core/cgroup/layout.hpp"
#include "core/service/capability_board.hpp"

namespace koord::service {

// In the order of the table in capability_probes.cpp, which is also the list of their names.
std::vector<Capability> probe_capabilities(const NodeRoots& roots, const cgroup::Layout& layout);

}  // namespace koord::service
