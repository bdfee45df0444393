// SPDX-License-Identifier: Apache-2.0
// The reason that resctrl, the kernel's file system of resource control, is missing on a node. [any thread]
#pragma once

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"

namespace koord::node {

// Returns that the machine offers no resource control, or that it is offered and not mounted at `roots.resctrl`.
Error why_no_resctrl(const NodeRoots& roots);

}  // namespace koord::node
