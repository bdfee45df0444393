// SPDX-License-Identifier: Apache-2.0
// DeviceNames: the kernel's name of a block device, "sda" or "dm-0", from sysfs. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "plugins/advisor-block-io/block_io.hpp"

namespace koord::block_io {

std::string number_text(DeviceNumber device);  // "8:0"

class DeviceNames {
 public:
  DeviceNames() = default;
  explicit DeviceNames(std::string sys_root) : sys_root_(std::move(sys_root)) {}

  // Returns the name, or the number if sysfs does not know the device. The name is read again every minute, because a
  // number may be reused for a different device.
  const std::string& name(DeviceNumber device, std::uint64_t now_ns);

 private:
  struct Known {
    std::string name;
    std::uint64_t until_ns = 0;
  };
  std::string sys_root_;
  std::map<DeviceNumber, Known> known_;
};

}  // namespace koord::block_io
