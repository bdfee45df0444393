// SPDX-License-Identifier: Apache-2.0
// The end of a child process. [any thread]
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <csignal>

namespace koord::child {

// Waits at most this time for the end of a child that is not reaped yet, then kills its children. Returns false if it
// has not ended. `pidfd`: its descriptor.
inline bool await_end(pid_t pid, int pidfd, int milliseconds) {
  pollfd end{pidfd, POLLIN, 0};
  if (::poll(&end, 1, milliseconds) <= 0) return false;
  ::kill(-pid, SIGKILL);  // the process group's number is not reused before waitpid()
  return true;
}

}  // namespace koord::child
