// SPDX-License-Identifier: Apache-2.0
// Finds the kernel's number of the device that a block of the NodeSLO or of a pod's annotation names. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "plugins/qos-blkio/storage.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::blkio {

struct Known {
  std::optional<Storage> storage;  // nothing: advisor-node-storage has not reported yet
  PodVolumes pod_volumes;
  Map number_of_name;  // of all devices of sysfs, "loop0"; of a partition its disk's
};

// `pod_uid`: the pod with the annotation that names the block; empty for the NodeSLO. Limits apply to whole disks: a
// partition, a volume or a group of volumes stands for the disk below it. An error says in words why there is no
// device.
Result<std::string> number_of(const slo::Block& block, std::string_view pod_uid, const Known& known);

// "device '/dev/vdb'", "volume group 'data'", "volume 'cache'".
std::string title_of(const slo::Block& block);

}  // namespace koord::blkio
