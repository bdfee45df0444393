// SPDX-License-Identifier: Apache-2.0
// The process at the other end of a unix socket, as the kernel knows it from the moment it connected. [any thread]
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::http {

struct LocalPeer {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups = {};  // supplementary
  pid_t pid = 0;                   // 0: it is in a PID namespace that this process does not see
  // Names this very process, even after its id was reused. Empty: this kernel has none for sockets (before Linux 6.5),
  // or pid is 0.
  UniqueFd process = {};

  // The process has ended, and its id may be another's. False as well where `process` is empty.
  bool has_ended() const;
};

// Fails when the process has ended before the kernel could name it.
Result<LocalPeer> local_peer(int socket);

// The processes that a unix socket is for.
struct UnixAccess {
  std::optional<gid_t> group = {};  // this group may open the socket, too; else its owner alone
  // [loop] Called at each connection, must be quick. An error refuses all its requests with 403 and the error's text.
  std::function<Result<void>(const LocalPeer&)> admit = {};
};

}  // namespace koord::http
