// SPDX-License-Identifier: Apache-2.0
#include "core/http/local_peer.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace koord::http {
namespace {

// SO_PEERPIDFD, since Linux 6.5. Headers of older systems lack it.
constexpr int kSoPeerPidfd = 77;

std::vector<gid_t> peer_groups(int socket) {
  std::vector<gid_t> groups(64);
  for (;;) {
    auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    const bool read = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) == 0;
    const bool is_longer = !read && errno == ERANGE && bytes > groups.size() * sizeof(gid_t);
    groups.resize(read || is_longer ? bytes / sizeof(gid_t) : 0);
    if (!is_longer) return groups;
  }
}

// Returns a pidfd of the peer's process; empty if the kernel does not support it.
Result<UniqueFd> peer_process(int socket) {
  int fd = -1;
  socklen_t bytes = sizeof fd;
  if (::getsockopt(socket, SOL_SOCKET, kSoPeerPidfd, &fd, &bytes) == 0) return UniqueFd(fd);
  if (errno == ESRCH || errno == ENODATA || errno == EINVAL)
    return system_error(ESRCH, "the process that connected has ended");
  return UniqueFd();
}

}  // namespace

bool LocalPeer::has_ended() const {
  pollfd poll{process.get(), POLLIN, 0};
  return process && ::poll(&poll, 1, 0) > 0;
}

Result<LocalPeer> local_peer(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0)
    return system_error(errno, "cannot ask the kernel for the process that connected");
  LocalPeer peer{credentials.uid, credentials.gid, peer_groups(socket), credentials.pid, {}};
  if (peer.pid > 0) peer.process = TRY(peer_process(socket));
  return peer;
}

}  // namespace koord::http
