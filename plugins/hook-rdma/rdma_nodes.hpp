// SPDX-License-Identifier: Apache-2.0
// Device nodes of a container with RDMA devices from the scheduler.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/device/device_allocation.hpp"

namespace koord::hook_rdma {

// PCI addresses of the functions that the container uses: of each device its virtual functions, or else the device
// itself. An error: a device without either. Pure.
Result<std::vector<std::string>> addresses_of(const std::vector<device::Device>& devices);

// A character device below /dev/infiniband.
struct DeviceNode {
  std::string name;     // "uverbs0"
  std::string numbers;  // "231:192"

  bool operator==(const DeviceNode&) const = default;
};

// Reads the node of the connection manager, and those of the functions at the addresses, from sysfs. An error: one of
// them is missing.
Result<std::vector<DeviceNode>> find_nodes(const std::string& sys, const std::vector<std::string>& addresses);

// The field of a hook's response for a node, and its value. Pure.
std::pair<std::string, std::string> field_of(const DeviceNode& node);

}  // namespace koord::hook_rdma
