// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-block-io/device_names.hpp"

#include "plugins/shared/node/value_file.hpp"

namespace koord::block_io {
namespace {

constexpr std::uint64_t kKeepNs = 60'000'000'000;

}  // namespace

std::string number_text(DeviceNumber device) {
  return std::to_string(device.major) + ':' + std::to_string(device.minor);
}

const std::string& DeviceNames::name(DeviceNumber device, std::uint64_t now_ns) {
  Known& known = known_[device];
  if (known.until_ns > now_ns) return known.name;
  const std::string number = number_text(device);
  known.name = node::link_name(sys_root_ + "/dev/block/" + number).value_or(number);
  known.until_ns = now_ns + kKeepNs;
  return known.name;
}

}  // namespace koord::block_io
