// SPDX-License-Identifier: Apache-2.0
// Reads the tree of resctrl. Never writes.
#pragma once

#include <string>
#include <vector>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "plugins/qos-resctrl/hardware.hpp"

namespace koord::rdt {

// Returns the resources that this node can divide. If it has none, the error says why.
Result<Hardware> read_hardware(const NodeRoots& roots);

// Returns the names of existing groups, sorted, without the default group.
std::vector<std::string> read_groups(const std::string& resctrl_root);

}  // namespace koord::rdt
