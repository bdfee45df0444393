// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-node-storage/storage_files.hpp"

#include "core/base/file.hpp"
#include "plugins/shared/node/value_file.hpp"

namespace koord::node_storage {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // unit in sysfs, whatever the device's sector size

std::uint64_t read_size(const std::string& dir) {
  const std::int64_t sectors = node::read_number(dir + "/size").value_or(0);
  return sectors > 0 ? static_cast<std::uint64_t>(sectors) * kSectorBytes : 0;
}

// Returns nullopt for a device that has just disappeared.
std::optional<BlockDevice> read_device(const std::string& dir, const std::string& name) {
  std::optional<std::string> number = node::read_text(dir + "/dev");
  if (!number) return std::nullopt;
  BlockDevice device{.name = name, .number = *std::move(number)};
  device.dm_name = node::read_text(dir + "/dm/name").value_or("");
  device.dm_uuid = node::read_text(dir + "/dm/uuid").value_or("");
  device.lower = node::names_in(dir + "/slaves");
  device.size_bytes = read_size(dir);
  return device;
}

// Returns whether the device is a disk. A drive without a medium and an unattached device have no size; paths of a
// multipath disk are hidden.
bool is_disk(const BlockDevice& device, const std::string& dir) {
  return is_disk_name(device.name) && device.size_bytes > 0 && node::read_number(dir + "/hidden").value_or(0) == 0;
}

void add_partitions(const std::string& disk_dir, const std::string& disk, std::vector<BlockDevice>& devices) {
  for (const std::string& name : node::names_in(disk_dir)) {
    const std::string dir = disk_dir + "/" + name;
    if (!node::exists(dir + "/partition")) continue;
    if (auto partition = read_device(dir, name)) {
      partition->parent = disk;
      devices.push_back(*std::move(partition));
    }
  }
}

}  // namespace

Result<std::vector<BlockDevice>> read_block_devices(const std::string& sys_root) {
  const std::string block = sys_root + "/block";
  std::vector<BlockDevice> devices;
  for (const std::string& name : TRY(list_directory(block))) {
    const std::string dir = block + "/" + name;
    auto device = read_device(dir, name);
    if (!device) continue;
    device->is_disk = is_disk(*device, dir);
    devices.push_back(*std::move(device));
    add_partitions(dir, name, devices);
  }
  return devices;
}

PhysicalVolumes read_physical_volumes(const std::string& run_root) {
  const std::string directory = run_root + "/lvm/pvs_online";
  PhysicalVolumes volumes;
  for (const std::string& name : node::names_in(directory))
    add_physical_volume(node::read_text(directory + "/" + name).value_or(""), volumes);
  return volumes;
}

Result<std::vector<Mount>> read_mounts(const std::string& proc_root) {
  Result<std::string> text = read_file(proc_root + "/1/mountinfo");
  if (!text) text = read_file(proc_root + "/self/mountinfo");
  if (!text) return std::move(text).error();
  return parse_mountinfo(*text);
}

}  // namespace koord::node_storage
