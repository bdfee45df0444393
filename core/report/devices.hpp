// SPDX-License-Identifier: Apache-2.0
// Devices: this node's Device (scheduling.koordinator.sh/v1alpha1), its GPUs and RDMA adapters, from the facts that
// advisor-gpu and advisor-rdma publish. Pure. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/state/snapshot.hpp"

namespace koord::report {

struct DeviceFault {
  std::string reason, message;

  bool operator==(const DeviceFault&) const = default;
};

struct Device {
  std::string type;                   // "gpu", "rdma"
  std::string id;                     // uuid, PCI address
  std::optional<std::int32_t> minor;  // nothing: it has no number
  bool healthy = true;
  std::optional<DeviceFault> fault;              // the fault that the driver reported
  std::map<std::string, std::string> resources;  // quantities
  std::int32_t numa_node = -1;
  std::string pcie_root, bus_id;
  std::vector<std::string> virtual_functions;  // PCI addresses, sorted

  bool operator==(const Device&) const = default;
};

// The facts, JSON lists with koordlet's names. An error names the member; unused members may be missing.
Result<std::vector<Device>> parse_gpu_fact(std::string_view text);
Result<std::vector<Device>> parse_rdma_fact(std::string_view text);

// A kind that is unknown is left unchanged in the object.
struct Devices {
  std::optional<std::vector<Device>> gpus, rdma;
};

// Returns the object with our devices; nothing: it has them already. Devices of other types stay. `now_seconds`: the
// wall clock, the time stated for devices that have become unhealthy.
Result<std::optional<std::string>> merge_devices(const Devices& ours, std::string_view object,
                                                 std::int64_t now_seconds);
std::string new_device_object(const state::Node& node);

}  // namespace koord::report
