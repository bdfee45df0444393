// SPDX-License-Identifier: Apache-2.0
// The block devices of sysfs that advisor-node-storage does not count as disks: loops, RAID, multipath.
#pragma once

#include <string>

#include "plugins/qos-blkio/storage.hpp"

namespace koord::blkio {

// Numbers by name, "7:0" for "loop0"; the disk's number for a partition. Empty if sysfs has none.
Map sysfs_devices(const std::string& sys_root);

}  // namespace koord::blkio
