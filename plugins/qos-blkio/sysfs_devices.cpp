// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-blkio/sysfs_devices.hpp"

#include "plugins/shared/node/value_file.hpp"

namespace koord::blkio {

Map sysfs_devices(const std::string& sys_root) {
  Map numbers;
  const std::string block = sys_root + "/block";
  for (const std::string& disk : node::names_in(block)) {
    const std::optional<std::string> number = node::read_text(block + "/" + disk + "/dev");
    if (!number) continue;
    numbers.emplace(disk, *number);
    for (const std::string& part : node::names_in(block + "/" + disk))
      if (part.starts_with(disk) && node::exists(block + "/" + disk + "/" + part + "/partition"))
        numbers.emplace(part, *number);
  }
  return numbers;
}

}  // namespace koord::blkio
