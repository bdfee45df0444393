// SPDX-License-Identifier: Apache-2.0
// Where to listen or to connect, and the sockets that listen there. [any thread]
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::http {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// "127.0.0.1:80", "[::1]:80", "localhost:80", ":80" (every address). Other names are not looked up.
Result<SocketAddress> parse_tcp_address(std::string_view text);
Result<SocketAddress> unix_address(const std::string& path);

// Non-blocking, listening.
Result<UniqueFd> open_tcp_listener(std::string_view address);
Result<std::uint16_t> local_port(int fd);
// Returns the peer's address without its port, "10.0.0.7" or "fd00::1"; empty: it has none (a unix socket).
std::string peer_of(int fd);
// Returns the part of an address that stands for one client where clients are limited: of IPv6 the first 64 bits,
// "fd00::/64", because a host may have each of the addresses below them; otherwise the address itself.
std::string network_of(const std::string& address);

// Mode 0600, or 0660 with this group, before connections are possible; makes the folder; replaces a socket without a
// listener.
Result<UniqueFd> open_unix_listener(const std::string& path, std::optional<gid_t> group = {});

}  // namespace koord::http
