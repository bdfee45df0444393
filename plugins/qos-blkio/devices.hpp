// SPDX-License-Identifier: Apache-2.0
// Which device, by the kernel's number, a block of the NodeSLO or of a pod's annotation means. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "plugins/qos-blkio/storage.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::blkio {

struct Known {
  std::optional<Storage> storage;  // nothing: advisor-node-storage has not told
  PodVolumes pod_volumes;
  Map number_of_name;  // of all devices of sysfs, "loop0"; of a partition its disk's
};

// `pod_uid`: whose annotation names the block; empty for the NodeSLO. Limits are those of whole disks: a partition, a volume
// and a group of volumes stand for the disk that they are on. An error says why there is no device, in words.
Result<std::string> number_of(const slo::Block& block, std::string_view pod_uid, const Known& known);

// "device '/dev/vdb'", "volume group 'data'", "volume 'cache'".
std::string title_of(const slo::Block& block);

}  // namespace koord::blkio
