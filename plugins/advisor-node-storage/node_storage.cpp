// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-node-storage/node_storage.hpp"

#include <algorithm>
#include <functional>

#include "core/base/parse.hpp"
#include "core/json/writer.hpp"

namespace koord::node_storage {
namespace {

// Format of device-mapper UUIDs, from lib/activate/dev_manager.c of LVM: "LVM-", 32 characters of the group's id, 32 of
// the volume's id, and for a layer of a volume "-" and its name. "pool" is the layer of a thin pool that lvs shows.
constexpr std::string_view kLvm = "LVM-";
constexpr std::size_t kLvmUuid = 4 + 32 + 32;

// Suffixes of names that LVM reserves for parts of volumes.
constexpr std::string_view reserved_names[] = {"_mlog",  "_mimage",  "_pmspare", "_rimage", "_rmeta",
                                               "_tdata", "_tmeta",   "_cdata",   "_cmeta",  "_cvol",
                                               "_vdata", "_vorigin", "_corig",   "_iorig",  "_imeta"};

bool is_part_of_a_volume(const LogicalVolume& volume) {
  return std::any_of(std::begin(reserved_names), std::end(reserved_names),
                     [&](std::string_view reserved) { return volume.name.find(reserved) != std::string::npos; });
}

class Devices {
 public:
  explicit Devices(const std::vector<BlockDevice>& devices) {
    for (const BlockDevice& device : devices) {
      by_name_[device.name] = &device;
      by_number_[device.number] = &device;
      by_path_[device_path(device)] = &device;
    }
  }

  const BlockDevice* named(const std::string& name) const { return find(by_name_, name); }
  const BlockDevice* numbered(const std::string& number) const { return find(by_number_, number); }
  // Returns the device of a mount. Some file systems (btrfs, stacked overlays) have their own number, but name their
  // device.
  const BlockDevice* of(const Mount& mount) const {
    const BlockDevice* device = numbered(mount.number);
    return device ? device : find(by_path_, mount.source);
  }

  // Adds the disks beneath a device, through any number of stacked devices.
  void add_disks(const BlockDevice& device, std::set<const BlockDevice*>& disks, int depth = 0) const {
    if (depth > 16) return;  // no stack is that deep, but a damaged tree may have a cycle
    if (device.is_disk) disks.insert(&device);
    if (const BlockDevice* parent = named(device.parent)) add_disks(*parent, disks, depth + 1);
    for (const std::string& lower : device.lower) {
      if (const BlockDevice* found = named(lower)) add_disks(*found, disks, depth + 1);
    }
  }

 private:
  using Index = std::map<std::string, const BlockDevice*, std::less<>>;
  static const BlockDevice* find(const Index& index, const std::string& key) {
    auto found = index.find(key);
    return found == index.end() ? nullptr : found->second;
  }

  Index by_name_, by_number_, by_path_;
};

void add_groups(const std::map<std::string, std::set<const BlockDevice*>>& disks_of_group, LocalStorage& storage) {
  for (const auto& [group, disks] : disks_of_group) {
    if (disks.size() == 1) storage.disk_of_group[group] = device_path(**disks.begin());
  }
}

void write(JsonWriter& json, std::string_view name, const LocalStorage::Map& map) {
  json.key(name).begin_object();
  for (const auto& [key, value] : map) json.member(key, value);
  json.end_object();
}

}  // namespace

bool is_disk_name(std::string_view name) {
  constexpr std::string_view others[] = {"loop", "ram", "zram", "dm-", "md", "sr", "fd"};
  return std::none_of(std::begin(others), std::end(others), [&](std::string_view other) {
    return name.starts_with(other) && name.size() > other.size() &&
           (name[other.size()] >= '0' && name[other.size()] <= '9');
  });
}

std::string device_path(const BlockDevice& device) {
  if (!device.dm_name.empty()) return "/dev/mapper/" + device.dm_name;
  std::string path = "/dev/" + device.name;
  std::replace(path.begin(), path.end(), '!', '/');
  return path;
}

std::optional<LogicalVolume> logical_volume(const BlockDevice& device) {
  const std::string_view uuid = device.dm_uuid;
  if (!uuid.starts_with(kLvm) || uuid.size() < kLvmUuid) return std::nullopt;
  const std::string_view layer = uuid.substr(kLvmUuid);
  if (!layer.empty() && layer != "-pool") return std::nullopt;
  LogicalVolume volume;
  std::string* part = &volume.group;
  const std::string& name = device.dm_name;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '-') {
      *part += name[i];
    } else if (i + 1 < name.size() && name[i + 1] == '-') {
      *part += name[i++];
    } else if (part == &volume.group) {
      part = &volume.name;
    } else {
      return std::nullopt;  // "group-name-layer"
    }
  }
  if (volume.group.empty() || volume.name.empty() || is_part_of_a_volume(volume)) return std::nullopt;
  return volume;
}

bool add_physical_volume(std::string_view text, PhysicalVolumes& volumes) {
  const std::optional<std::string_view> number = next_field(text, '\n');
  while (const auto line = next_field(text, '\n')) {
    if (!line->starts_with("vg:") || line->size() == 3 || number->empty()) continue;
    volumes[std::string(line->substr(3))].insert(std::string(*number));
    return true;
  }
  return false;
}

LocalStorage local_storage(const std::vector<BlockDevice>& list, const PhysicalVolumes& volumes,
                           const std::vector<Mount>& mounts) {
  const Devices devices(list);
  LocalStorage storage;
  std::map<std::string, std::set<const BlockDevice*>> disks_of_group;
  for (const BlockDevice& device : list) {
    if (device.is_disk) {
      storage.number_of_disk[device_path(device)] = device.number;
      storage.disk_of_number[device.number] = device_path(device);
    }
    const BlockDevice* parent = devices.named(device.parent);
    if (parent && parent->is_disk) storage.disk_of_partition[device_path(device)] = device_path(*parent);
    if (const auto volume = logical_volume(device)) {
      storage.group_of_volume[device_path(device)] = volume->group;
      devices.add_disks(device, disks_of_group[volume->group]);
    }
  }
  for (const auto& [group, numbers] : volumes) {
    for (const std::string& number : numbers) {
      if (const BlockDevice* device = devices.numbered(number)) devices.add_disks(*device, disks_of_group[group]);
    }
  }
  add_groups(disks_of_group, storage);
  for (const Mount& mount : mounts) {
    if (const BlockDevice* device = devices.of(mount)) storage.device_of_mount[mount.point] = device_path(*device);
  }
  return storage;
}

std::string local_storage_json(const LocalStorage& storage) {
  JsonWriter json;
  json.begin_object();
  write(json, "DiskNumberMap", storage.number_of_disk);
  write(json, "NumberDiskMap", storage.disk_of_number);
  write(json, "PartitionDiskMap", storage.disk_of_partition);
  write(json, "VGDiskMap", storage.disk_of_group);
  write(json, "LVMapperVGMap", storage.group_of_volume);
  write(json, "MPDiskMap", storage.device_of_mount);
  json.end_object();
  return json.text();
}

}  // namespace koord::node_storage
