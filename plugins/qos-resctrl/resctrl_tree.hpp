// SPDX-License-Identifier: Apache-2.0
// The tree of resctrl as values. Only reads.
#pragma once

#include <string>
#include <vector>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "plugins/qos-resctrl/hardware.hpp"

namespace koord::rdt {

// Returns the resources that can be divided here; an error says why none can.
Result<Hardware> read_hardware(const NodeRoots& roots);

// The groups that there are, sorted, without that of all others.
std::vector<std::string> read_groups(const std::string& resctrl_root);

}  // namespace koord::rdt
