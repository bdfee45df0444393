// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-blkio/devices.hpp"

#include <algorithm>

namespace koord::blkio {
namespace {

const std::string* find(const Map& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

Error unknown_storage() { return not_found("the node's storage is unknown; plugin advisor-node-storage reports it"); }

Result<std::string> number_of_group(std::string_view group, const Storage& storage) {
  const std::string* disk = find(storage.disk_of_group, group);
  if (!disk) return not_found("no volume group '" + std::string(group) + "' that is on one disk");
  const std::string* number = find(storage.number_of_disk, *disk);
  return number ? Result<std::string>(*number)
                : not_found("'" + *disk + "' of volume group '" + std::string(group) + "' is not a disk");
}

// Returns nullopt if the path is not in the known storage.
std::optional<Result<std::string>> number_in(const Storage& storage, const std::string& path) {
  if (const std::string* number = find(storage.number_of_disk, path)) return Result<std::string>(*number);
  if (const std::string* disk = find(storage.disk_of_partition, path))
    if (const std::string* number = find(storage.number_of_disk, *disk)) return Result<std::string>(*number);
  if (const std::string* group = find(storage.group_of_volume, path)) return number_of_group(*group, storage);
  return std::nullopt;
}

// Returns the number of a device; "vdb" and "/dev/vdb" name the same device.
Result<std::string> number_of_path(std::string_view name, const Known& known) {
  constexpr std::string_view kDev = "/dev/";
  const std::string path = name.starts_with('/') ? std::string(name) : std::string(kDev) + std::string(name);
  if (known.storage)
    if (auto number = number_in(*known.storage, path)) return *std::move(number);
  std::string in_sysfs = path.starts_with(kDev) ? path.substr(kDev.size()) : path;
  std::replace(in_sysfs.begin(), in_sysfs.end(), '/', '!');  // sysfs writes "cciss!c0d0" for "cciss/c0d0"
  const std::string* number = find(known.number_of_name, in_sysfs);
  return number ? Result<std::string>(*number) : not_found("no block device '" + path + "'");
}

Result<std::string> number_of_volume(std::string_view volume, std::string_view pod_uid, const Known& known) {
  if (pod_uid.empty()) return invalid("only an annotation of a pod can name a volume");
  if (!known.storage) return unknown_storage();
  const auto pod = known.pod_volumes.find(pod_uid);
  const std::string* directory = pod == known.pod_volumes.end() ? nullptr : find(pod->second, volume);
  if (!directory)
    return not_found("the pod has no such volume of a CSI driver, or its claim is not known (state.apiserver.volumes)");
  const std::string* device = find(known.storage->device_of_volume, std::string(pod_uid) + "/" + *directory);
  if (!device) return not_found("the kubelet has not mounted '" + *directory + "' from a block device");
  return number_of_path(*device, known);
}

}  // namespace

Result<std::string> number_of(const slo::Block& block, std::string_view pod_uid, const Known& known) {
  switch (block.type) {
    case slo::BlockType::volume_group:
      return known.storage ? number_of_group(block.name, *known.storage) : Result<std::string>(unknown_storage());
    case slo::BlockType::pod_volume:
      return number_of_volume(block.name, pod_uid, known);
    default:
      return number_of_path(block.name, known);
  }
}

std::string title_of(const slo::Block& block) {
  switch (block.type) {
    case slo::BlockType::volume_group:
      return "volume group '" + block.name + "'";
    case slo::BlockType::pod_volume:
      return "volume '" + block.name + "'";
    default:
      return "device '" + block.name + "'";
  }
}

}  // namespace koord::blkio
