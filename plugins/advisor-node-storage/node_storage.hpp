// SPDX-License-Identifier: Apache-2.0
// From block devices, volume groups and mounts to what is on which disk. Pure: values in, values out.
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

// One device of sysfs, as it calls itself there.
struct BlockDevice {
  std::string name;    // "vda", "vda1", "dm-0", "cciss!c0d0"
  std::string number;  // "254:0"
  std::string parent;  // of a partition, the name of the device it is on
  bool is_disk = false;
  std::string dm_name, dm_uuid;    // of the device mapper: "vg-lv", "LVM-…"
  std::vector<std::string> lower;  // names of the devices below it
  std::uint64_t size_bytes = 0;
};

// Names in /sys/block that are no disk: loops, memory, optical drives, what is stacked on others.
bool is_disk_name(std::string_view name);

// "/dev/vda", "/dev/mapper/vg-lv", "/dev/cciss/c0d0".
std::string device_path(const BlockDevice& device);

struct LogicalVolume {
  std::string group, name;

  bool operator==(const LogicalVolume&) const = default;
};

// The device mapper's name of a logical volume is "group-name" with every dash inside of either doubled. Nothing for
// another kind of device, and for the volumes that LVM keeps for itself (lvs shows them with --all only).
std::optional<LogicalVolume> logical_volume(const BlockDevice& device);

// The physical volumes of each group, as numbers of devices: those that are in use are known from the logical volumes,
// all of them where LVM's event activation keeps a list.
using PhysicalVolumes = std::map<std::string, std::set<std::string>>;

// "254:2\nvg:data\ndev:/dev/vdb\n", a file of /run/lvm/pvs_online. False when it is not of the form.
bool add_physical_volume(std::string_view text, PhysicalVolumes& volumes);

// koordlet's six maps; paths of devices throughout.
struct LocalStorage {
  using Map = std::map<std::string, std::string>;
  Map number_of_disk, disk_of_number;
  Map disk_of_partition;
  Map disk_of_group;  // groups of which all is on one disk
  Map group_of_volume;
  Map device_of_mount;
};

LocalStorage local_storage(const std::vector<BlockDevice>& devices, const PhysicalVolumes& volumes,
                           const std::vector<Mount>& mounts);

// koordlet's fact node_local_storage_info.
std::string local_storage_json(const LocalStorage& storage);

}  // namespace koord::node_storage
