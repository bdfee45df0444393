// SPDX-License-Identifier: Apache-2.0
// Finds the knobs of the scheduler that this node's cgroups have. [any thread]
#pragma once

#include "core/base/node_roots.hpp"
#include "plugins/hook-group-identity/group_identity.hpp"

namespace koord::group_identity {

// Checks the files of the top-level cgroups, and the kernel's switch for group identities.
Kernel find_kernel_knobs(const NodeRoots& roots);

}  // namespace koord::group_identity
