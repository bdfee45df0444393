// SPDX-License-Identifier: Apache-2.0
// The block devices, LVM's physical volumes and the mounts of a node, from /sys, /run and /proc. Nothing is run.
#pragma once

#include <vector>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "plugins/advisor-node-storage/node_storage.hpp"

namespace koord::node_storage {

Result<std::vector<BlockDevice>> read_block_devices(const std::string& sys_root);

// Empty where LVM keeps no list.
PhysicalVolumes read_physical_volumes(const std::string& run_root);

// Those that PID 1 sees; our own where that may not be read.
Result<std::vector<Mount>> read_mounts(const std::string& proc_root);

}  // namespace koord::node_storage
