// SPDX-License-Identifier: Apache-2.0
// A node's storage, from the facts that advisor-node-storage and the host keep in koord.kv/1. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::blkio {

using Map = std::map<std::string, std::string, std::less<>>;

// Paths of devices throughout: "/dev/vda", "/dev/mapper/vg-lv".
struct Storage {
  Map number_of_disk;  // "254:0"
  Map disk_of_partition;
  Map disk_of_group;  // groups of volumes of which all is on one disk
  Map group_of_volume;
  Map device_of_volume;  // "POD UID/NAME OF ITS DIRECTORY": what the kubelet has mounted for a pod

  bool operator==(const Storage&) const = default;
};

// The fact advisor-node-storage/node_local_storage_info.
Result<Storage> parse_storage(std::string_view json);

// For each pod, by uid: the directory name of each volume, by the pod's name for the volume. The fact host/pod_volumes.
using PodVolumes = std::map<std::string, Map, std::less<>>;
Result<PodVolumes> parse_pod_volumes(std::string_view json);

// "UID/NAME" of the volume that the kubelet mounts there: ".../pods/UID/volumes/kubernetes.io~csi/NAME/mount", without
// the last part for drivers of the kubelet's own. Empty: another mount.
std::string volume_of_mount(std::string_view point);

}  // namespace koord::blkio
