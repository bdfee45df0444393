// SPDX-License-Identifier: Apache-2.0
// A descriptor of a process: readable when the process has ended, and never that of a later process with the same id.
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/base/unique_fd.hpp"

namespace koord {

// Empty, with errno, if the process does not exist or the call is not allowed.
inline UniqueFd open_pidfd(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

}  // namespace koord
