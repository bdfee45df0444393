// SPDX-License-Identifier: Apache-2.0
// Reads a node's block devices, LVM's physical volumes and the mounts from /sys, /run and /proc. Executes no program.
#pragma once

#include <vector>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"
#include "plugins/advisor-node-storage/node_storage.hpp"

namespace koord::node_storage {

Result<std::vector<BlockDevice>> read_block_devices(const std::string& sys_root);

// Returns an empty map if LVM keeps no list.
PhysicalVolumes read_physical_volumes(const std::string& run_root);

// Returns the mounts of PID 1, or our own if these cannot be read.
Result<std::vector<Mount>> read_mounts(const std::string& proc_root);

}  // namespace koord::node_storage
