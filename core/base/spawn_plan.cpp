// SPDX-License-Identifier: Apache-2.0
#include "core/base/spawn_plan.hpp"

#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace koord {

SpawnPlan::SpawnPlan(int last_number) : last_number_(last_number) {
  ::posix_spawn_file_actions_init(&files_);
  ::posix_spawnattr_init(&attributes_);
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&attributes_, &all);
  ::posix_spawnattr_setsigmask(&attributes_, &none);
  ::posix_spawnattr_setpgroup(&attributes_, 0);
  ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
}

SpawnPlan::~SpawnPlan() {
  ::posix_spawn_file_actions_destroy(&files_);
  ::posix_spawnattr_destroy(&attributes_);
}

// Duplicates the descriptor above all numbers that are yet to be filled. dup2() to a different number always clears
// close-on-exec.
Result<void> SpawnPlan::give(int fd, int number) {
  UniqueFd high(::fcntl(fd, F_DUPFD_CLOEXEC, last_number_ + 1));
  if (!high) return system_error(errno, "descriptor for a child");
  ::posix_spawn_file_actions_adddup2(&files_, high.get(), number);
  given_.push_back(std::move(high));
  return {};
}

}  // namespace koord
