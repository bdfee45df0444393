// SPDX-License-Identifier: Apache-2.0
// Devices that the scheduler allocated to a pod: its annotation scheduling.koordinator.sh/device-allocated. Pure. [any
// thread]
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::device {

inline constexpr std::string_view kAnnotation = "scheduling.koordinator.sh/device-allocated";
// No machine has more devices, so a longer annotation does not come from the scheduler.
inline constexpr std::size_t kMostDevices = 1024;

struct Device {
  std::int64_t minor = 0;
  std::string id;  // name in the Device object; for an RDMA device its PCI address, may be empty
  std::map<std::string, std::int64_t, std::less<>> resources;
  std::vector<std::string> virtual_functions;  // PCI addresses
};

// Returns the devices of a type, "gpu" or "rdma"; none for an empty annotation. An error names the annotation, the
// position in it and what was expected.
Result<std::vector<Device>> parse_allocation(std::string_view annotation, std::string_view type);

// Returns whether the text is a PCI address like "0000:3b:00.0", with lower-case or upper-case digits.
bool is_pci_address(std::string_view text);

}  // namespace koord::device
