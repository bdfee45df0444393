// SPDX-License-Identifier: Apache-2.0
// Finds block devices of sysfs that advisor-node-storage does not report as disks: loop devices, RAID, multipath.
#pragma once

#include <string>

#include "plugins/qos-blkio/storage.hpp"

namespace koord::blkio {

// Returns device numbers by name, "7:0" for "loop0"; a partition has its disk's number. Empty if sysfs has no devices.
Map sysfs_devices(const std::string& sys_root);

}  // namespace koord::blkio
