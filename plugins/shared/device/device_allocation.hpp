// SPDX-License-Identifier: Apache-2.0
// The devices that the scheduler gave a pod: its annotation scheduling.koordinator.sh/device-allocated. Pure. [any
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
// More devices than any machine has: the annotation is not the scheduler's.
inline constexpr std::size_t kMostDevices = 1024;

struct Device {
  std::int64_t minor = 0;
  std::string id;  // as the Device object names it; of an RDMA device its PCI address, may be empty
  std::map<std::string, std::int64_t, std::less<>> resources;
  std::vector<std::string> virtual_functions;  // PCI addresses
};

// The devices of a type, "gpu" or "rdma". An empty annotation has none. An error names the annotation, the place and
// what was expected.
Result<std::vector<Device>> parse_allocation(std::string_view annotation, std::string_view type);

// "0000:3b:00.0", with lower-case or upper-case digits.
bool is_pci_address(std::string_view text);

}  // namespace koord::device
