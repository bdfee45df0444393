// SPDX-License-Identifier: Apache-2.0
// Finds out what is on which disk, from block devices, volume groups and mounts. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/advisor-node-storage/mounts.hpp"

namespace koord::node_storage {

// A device of sysfs, with its names there.
struct BlockDevice {
  std::string name;    // "vda", "vda1", "dm-0", "cciss!c0d0"
  std::string number;  // "254:0"
  std::string parent;  // only for a partition: the name of its device
  bool is_disk = false;
  std::string dm_name, dm_uuid;    // set by the device mapper: "vg-lv", "LVM-…"
  std::vector<std::string> lower;  // names of the devices below it
  std::uint64_t size_bytes = 0;
};

// Returns whether the name in /sys/block may be a disk. Loop devices, memory, optical drives and stacked devices are
// not disks.
bool is_disk_name(std::string_view name);

// Returns a path like "/dev/vda", "/dev/mapper/vg-lv" or "/dev/cciss/c0d0".
std::string device_path(const BlockDevice& device);

struct LogicalVolume {
  std::string group, name;

  bool operator==(const LogicalVolume&) const = default;
};

// Parses the device mapper's name of a logical volume: "group-name" with each dash inside the parts doubled. Returns
// nullopt for other devices and for LVM's internal volumes (lvs shows them only with --all).
std::optional<LogicalVolume> logical_volume(const BlockDevice& device);

// The physical volumes of each group, as device numbers. The volumes in use are known from the logical volumes. All
// volumes are known if LVM's event activation keeps a list.
using PhysicalVolumes = std::map<std::string, std::set<std::string>>;

// Adds a file of /run/lvm/pvs_online: "254:2\nvg:data\ndev:/dev/vdb\n". Returns false if it has a different format.
bool add_physical_volume(std::string_view text, PhysicalVolumes& volumes);

// koordlet's six maps; all devices are paths.
struct LocalStorage {
  using Map = std::map<std::string, std::string>;
  Map number_of_disk, disk_of_number;
  Map disk_of_partition;
  Map disk_of_group;  // only groups that are completely on one disk
  Map group_of_volume;
  Map device_of_mount;
};

LocalStorage local_storage(const std::vector<BlockDevice>& devices, const PhysicalVolumes& volumes,
                           const std::vector<Mount>& mounts);

// Returns koordlet's fact node_local_storage_info.
std::string local_storage_json(const LocalStorage& storage);

}  // namespace koord::node_storage
