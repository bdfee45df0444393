// SPDX-License-Identifier: Apache-2.0
// Finds the kernel's number of the device that a block names. The block is from the NodeSLO or a pod's annotation.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "plugins/qos-blkio/storage.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::blkio {

struct Known {
  std::optional<Storage> storage;  // nullopt: advisor-node-storage has not reported yet
  PodVolumes pod_volumes;
  Map number_of_name;  // all devices of sysfs, "loop0"; a partition has its disk's number
};

// Returns the device number of the disk. `pod_uid`: the pod that has the block in its annotation; empty for the
// NodeSLO. Limits apply to whole disks, so a partition, a volume or a volume group stands for the disk below it. The
// text of an error is for operators.
Result<std::string> number_of(const slo::Block& block, std::string_view pod_uid, const Known& known);

// Returns a text like "device '/dev/vdb'", "volume group 'data'" or "volume 'cache'".
std::string title_of(const slo::Block& block);

}  // namespace koord::blkio
