// SPDX-License-Identifier: Apache-2.0
// Devices and mounts of a runtime hook's answer: the fields device:/dev/NAME and mount:/PATH, parsed. Paths are
// absolute and normalized, valid UTF-8 of at most 4095 bytes, without spaces and control bytes. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::host {

inline constexpr std::string_view kDeviceField = "device:", kMountField = "mount:";

// A device node in the container, with the numbers of the kernel's dev_t.
struct HookDevice {
  std::string path;  // "/dev/infiniband/rdma_cm"
  char type = 'c';   // 'c' or 'b'
  std::uint32_t major = 0, minor = 0;
  std::uint32_t mode = 0666;

  bool operator==(const HookDevice&) const = default;
};

// A recursive bind mount.
struct HookMount {
  std::string target;  // in the container
  std::string source;  // on the node
  bool is_read_only = false;

  bool operator==(const HookMount&) const = default;
};

// Parses a field that begins with kDeviceField, and its value "c MAJOR:MINOR" or "b MAJOR:MINOR MODE". An error names
// the field and the expected form.
Result<HookDevice> parse_hook_device(std::string_view field, std::string_view value);
// Parses a field that begins with kMountField, and its value "/PATH" or "/PATH ro".
Result<HookMount> parse_hook_mount(std::string_view field, std::string_view value);

}  // namespace koord::host
