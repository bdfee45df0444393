// SPDX-License-Identifier: Apache-2.0
// Finds the device nodes of a container with RDMA devices from the scheduler.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/device/device_allocation.hpp"

namespace koord::hook_rdma {

// Returns the PCI addresses of the functions that the container uses: the virtual functions of each device, or else the
// device itself. Fails if a device has neither. Pure.
Result<std::vector<std::string>> addresses_of(const std::vector<device::Device>& devices);

// A character device below /dev/infiniband.
struct DeviceNode {
  std::string name;     // "uverbs0"
  std::string numbers;  // "231:192"

  bool operator==(const DeviceNode&) const = default;
};

// Reads from sysfs the node of the connection manager and the nodes of the functions at the addresses. Fails if one of
// these nodes is missing.
Result<std::vector<DeviceNode>> find_nodes(const std::string& sys, const std::vector<std::string>& addresses);

// Returns the field of a hook's response for a device node, and its value. Pure.
std::pair<std::string, std::string> field_of(const DeviceNode& node);

}  // namespace koord::hook_rdma
