// SPDX-License-Identifier: Apache-2.0
// Kinds of sockets that a plugin may be granted, as a set and as names. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace koord {

using NetworkMask = std::uint8_t;

enum : NetworkMask {
  kNetworkUnix = 1,     // AF_UNIX
  kNetworkTcp = 2,      // AF_INET and AF_INET6, streams
  kNetworkUdp = 4,      // AF_INET and AF_INET6, datagrams; names of hosts are resolved by it
  kNetworkNetlink = 8,  // AF_NETLINK
};

// "unix", "tcp", "udp" or "netlink"; nullopt: another name.
std::optional<NetworkMask> network_family(std::string_view name);

const std::vector<std::string_view>& network_family_names();

}  // namespace koord
