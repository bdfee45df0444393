// SPDX-License-Identifier: Apache-2.0
#include "core/http/socket_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>

#include "core/base/parse.hpp"

namespace koord::http {
namespace {

constexpr int kBacklog = 128;

std::string text_of(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const char* made = ::inet_ntop(family, address, text.data(), text.size());
  return made ? made : "";
}

template <class Raw>
SocketAddress wrap(const Raw& raw) {
  SocketAddress address;
  std::memcpy(&address.storage, &raw, sizeof raw);
  address.length = sizeof raw;
  return address;
}

SocketAddress ipv4(in_addr host, std::uint16_t port) {
  sockaddr_in raw{};
  raw.sin_family = AF_INET;
  raw.sin_addr = host;
  raw.sin_port = htons(port);
  return wrap(raw);
}

SocketAddress ipv6(in6_addr host, std::uint16_t port) {
  sockaddr_in6 raw{};
  raw.sin6_family = AF_INET6;
  raw.sin6_addr = host;
  raw.sin6_port = htons(port);
  return wrap(raw);
}

Error bad_address(std::string_view text) {
  return invalid("'" + std::string(text) +
                 "' is not an address, expected one as '127.0.0.1:9316', '[::1]:9316' or ':9316'");
}

Result<UniqueFd> open_socket(int family, std::string_view what) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return system_error(errno, "cannot make a socket for '" + std::string(what) + "'");
  return fd;
}

Result<UniqueFd> listen_on(const SocketAddress& address, std::string_view what) {
  UniqueFd fd = TRY(open_socket(address.family(), what));
  int on = 1, off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.family() == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(fd.get(), address.get(), address.length) != 0 || ::listen(fd.get(), kBacklog) != 0)
    return system_error(errno, "cannot listen on '" + std::string(what) + "'");
  return fd;
}

Result<void> make_parent_directory(const std::string& path) {
  std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) return system_error(error.value(), "cannot make the folder '" + parent.string() + "'");
  return {};
}

// Removes a stale socket at `path`. Fails if a process listens there, or if the file is not a socket.
Result<void> clear_stale_socket(const std::string& path, const SocketAddress& address) {
  struct stat info;
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) return invalid("cannot listen on '" + path + "': it exists and is not a socket");
  UniqueFd probe = TRY(open_socket(AF_UNIX, path));
  // EAGAIN, a full backlog, also means that a process listens.
  if (::connect(probe.get(), address.get(), address.length) == 0 || errno != ECONNREFUSED)
    return system_error(EADDRINUSE, "cannot listen on '" + path + "', another process answers there");
  if (::unlink(path.c_str()) != 0) return system_error(errno, "cannot remove the stale socket '" + path + "'");
  return {};
}

}  // namespace

Result<SocketAddress> parse_tcp_address(std::string_view text) {
  std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text);
  auto port = parse_uint(text.substr(colon + 1));
  if (!port || *port > std::numeric_limits<std::uint16_t>::max()) return bad_address(text);
  auto number = static_cast<std::uint16_t>(*port);
  std::string host(text.substr(0, colon));
  if (host.empty()) return ipv6(in6addr_any, number);
  if (host == "localhost") host = "127.0.0.1";
  in_addr v4;
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return ipv4(v4, number);
  if (!host.starts_with('[') || !host.ends_with(']')) return bad_address(text);
  in6_addr v6;
  if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6) == 1) return ipv6(v6, number);
  return bad_address(text);
}

Result<SocketAddress> unix_address(const std::string& path) {
  sockaddr_un raw{};
  raw.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof raw.sun_path)
    return invalid("socket path '" + path + "' has " + std::to_string(path.size()) + " bytes, expected 1 to " +
                   std::to_string(sizeof raw.sun_path - 1));
  std::memcpy(raw.sun_path, path.data(), path.size());
  return wrap(raw);
}

Result<UniqueFd> open_tcp_listener(std::string_view text) {
  SocketAddress address = TRY(parse_tcp_address(text));
  Result<UniqueFd> fd = listen_on(address, text);
  // Without IPv6 in the kernel, listens on all IPv4 addresses.
  if (!fd && fd.error().is(std::errc::address_family_not_supported) && text.starts_with(':'))
    return open_tcp_listener("0.0.0.0" + std::string(text));
  return fd;
}

Result<std::uint16_t> local_port(int fd) {
  SocketAddress address;
  address.length = sizeof address.storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0)
    return system_error(errno, "cannot ask for the port of a socket");
  // The port is at the same offset in both address families.
  sockaddr_in raw;
  std::memcpy(&raw, &address.storage, sizeof raw);
  return ntohs(raw.sin_port);
}

Result<UniqueFd> open_unix_listener(const std::string& path, std::optional<gid_t> group) {
  SocketAddress address = TRY(unix_address(path));
  TRY(make_parent_directory(path));
  TRY(clear_stale_socket(path, address));
  UniqueFd fd = TRY(open_socket(AF_UNIX, path));
  if (::bind(fd.get(), address.get(), address.length) != 0)
    return system_error(errno, "cannot listen on '" + path + "'");
  // Connections are possible only after listen(), so the mode is set in time.
  if (group && ::lchown(path.c_str(), static_cast<uid_t>(-1), *group) != 0)
    return system_error(errno, "cannot give the socket '" + path + "' to group " + std::to_string(*group));
  if (::chmod(path.c_str(), group ? 0660 : 0600) != 0 || ::listen(fd.get(), kBacklog) != 0)
    return system_error(errno, "cannot listen on '" + path + "'");
  return fd;
}

std::string peer_of(int fd) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0) return {};
  if (peer.ss_family == AF_INET) return text_of(AF_INET, &reinterpret_cast<const sockaddr_in&>(peer).sin_addr);
  if (peer.ss_family != AF_INET6) return {};
  const in6_addr& address = reinterpret_cast<const sockaddr_in6&>(peer).sin6_addr;
  constexpr std::size_t kPrefix = 12;  // prefix of an IPv4 address, on a socket that accepts both
  if (IN6_IS_ADDR_V4MAPPED(&address)) return text_of(AF_INET, address.s6_addr + kPrefix);
  return text_of(AF_INET6, &address);
}

std::string network_of(const std::string& address) {
  in6_addr network;
  if (::inet_pton(AF_INET6, address.c_str(), &network) != 1) return address;
  constexpr std::size_t kPrefix = 8;
  std::fill(network.s6_addr + kPrefix, std::end(network.s6_addr), std::uint8_t{0});
  return text_of(AF_INET6, &network) + "/64";
}

}  // namespace koord::http
