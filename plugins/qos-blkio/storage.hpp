// SPDX-License-Identifier: Apache-2.0
// Parses a node's storage from facts that advisor-node-storage and the host store in koord.kv/1. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::blkio {

using Map = std::map<std::string, std::string, std::less<>>;

// Devices are paths: "/dev/vda", "/dev/mapper/vg-lv".
struct Storage {
  Map number_of_disk;  // "254:0"
  Map disk_of_partition;
  Map disk_of_group;  // only volume groups that are completely on one disk
  Map group_of_volume;
  Map device_of_volume;  // "POD UID/DIRECTORY NAME" of volumes that the kubelet has mounted for a pod

  bool operator==(const Storage&) const = default;
};

// Parses the fact advisor-node-storage/node_local_storage_info.
Result<Storage> parse_storage(std::string_view json);

// The fact host/pod_volumes. For each pod by uid: the directory name of each volume, by the pod's name for the volume.
using PodVolumes = std::map<std::string, Map, std::less<>>;
Result<PodVolumes> parse_pod_volumes(std::string_view json);

// Returns "UID/NAME" of the volume that the kubelet mounts at ".../pods/UID/volumes/kubernetes.io~csi/NAME/mount". The
// kubelet's own drivers have no last part. Returns "" for other mounts.
std::string volume_of_mount(std::string_view point);

}  // namespace koord::blkio
