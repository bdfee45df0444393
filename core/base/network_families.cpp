// SPDX-License-Identifier: Apache-2.0
#include "core/base/network_families.hpp"

#include <cstddef>

namespace koord {

// The names in the order of the bits.
const std::vector<std::string_view>& network_family_names() {
  static const std::vector<std::string_view> names{"unix", "tcp", "udp", "netlink"};
  return names;
}

std::optional<NetworkMask> network_family(std::string_view name) {
  const std::vector<std::string_view>& names = network_family_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<NetworkMask>(1u << i);
  return std::nullopt;
}

}  // namespace koord
