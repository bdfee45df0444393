// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/http/socket_address.hpp"

namespace koord::criproxy {
namespace {

constexpr int kFirstInherited = 3;  // SD_LISTEN_FDS_START
constexpr mode_t kSocketMode = 0660;

Result<UniqueFd> bind_socket(const std::string& path) {
  const http::SocketAddress address = TRY(http::unix_address(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_error(errno, "cannot make a unix socket");
  ::unlink(path.c_str());
  if (::bind(socket.get(), address.get(), address.length) != 0)
    return system_error(errno, "cannot bind '" + path + "'");
  if (::chmod(path.c_str(), kSocketMode) != 0 || ::listen(socket.get(), SOMAXCONN) != 0)
    return system_error(errno, "cannot listen on '" + path + "'");
  return socket;
}

}  // namespace

Result<UniqueFd> replace_socket(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed) return system_error(failed.value(), "cannot make the folder of '" + path + "'");
  const std::string fresh = path + ".new";
  UniqueFd socket = TRY(bind_socket(fresh));
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return system_error(errno, "cannot replace '" + path + "'");
  return socket;
}

UniqueFd inherited_socket() {
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  if (!pid || !count || std::strtol(pid, nullptr, 10) != ::getpid() || std::strtol(count, nullptr, 10) < 1) return {};
  UniqueFd socket(kFirstInherited);
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  return socket;
}

UniqueFd accept_connection(int listener) {
  return UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

}  // namespace koord::criproxy
