// SPDX-License-Identifier: Apache-2.0
// A pod's allocation of devices, with any content: a virtual function must be named by a PCI address.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/shared/device/device_allocation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* type : {"gpu", "rdma"}) {
    const auto devices = koord::device::parse_allocation(text, type);
    if (!devices) continue;
    if (devices->size() > koord::device::kMostDevices) std::abort();
    for (const koord::device::Device& device : *devices)
      for (const std::string& address : device.virtual_functions)
        if (device.minor < 0 || address.find_first_of("/\n ") != std::string::npos) std::abort();
  }
  return 0;
}
