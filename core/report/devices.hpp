// SPDX-License-Identifier: Apache-2.0
// Devices: this node's Device (scheduling.koordinator.sh/v1alpha1) with its GPUs and RDMA adapters, from the facts of
// advisor-gpu and advisor-rdma. Pure. [any thread]
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
  std::optional<std::int32_t> minor;  // nullopt: no number
  bool healthy = true;
  std::optional<DeviceFault> fault;              // the fault that the driver reported
  std::map<std::string, std::string> resources;  // quantities
  std::int32_t numa_node = -1;
  std::string pcie_root, bus_id;
  std::vector<std::string> virtual_functions;  // PCI addresses, sorted

  bool operator==(const Device&) const = default;
};

// Parse the facts: JSON lists with koordlet's names. An error names the member. Unused members may be missing.
Result<std::vector<Device>> parse_gpu_fact(std::string_view text);
Result<std::vector<Device>> parse_rdma_fact(std::string_view text);

// Devices by kind. If a kind is unknown (nullopt), its devices in the object do not change.
struct Devices {
  std::optional<std::vector<Device>> gpus, rdma;
};

// Returns the object with our devices; nullopt if it already has them. Devices of other types do not change.
// `now_seconds`: the wall clock, used as the time when devices became unhealthy.
Result<std::optional<std::string>> merge_devices(const Devices& ours, std::string_view object,
                                                 std::int64_t now_seconds);
std::string new_device_object(const state::Node& node);

}  // namespace koord::report
