// SPDX-License-Identifier: Apache-2.0
// Explains why resctrl, the kernel's file system for resource control, is missing on a node. [any thread]
#pragma once

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"

namespace koord::node {

// Returns an error that says whether the machine has no resource control or resctrl is not mounted at `roots.resctrl`.
Error why_no_resctrl(const NodeRoots& roots);

}  // namespace koord::node
