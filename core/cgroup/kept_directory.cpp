// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/kept_directory.hpp"

#include <fcntl.h>

namespace koord::cgroup {

KeptDirectory::~KeptDirectory() {
  UniqueFd last(fd_.load());
  if (last) terms_.directories.release();
}

UniqueFd KeptDirectory::open(const char* name) {
  if (int directory = descriptor(); directory >= 0) return UniqueFd(::openat(directory, name, O_RDONLY | O_CLOEXEC));
  return UniqueFd(::open((path_ + '/' + name).c_str(), O_RDONLY | O_CLOEXEC));
}

// Returns the kept descriptor; -1: the budget is used up, or the directory cannot be opened.
int KeptDirectory::descriptor() {
  if (int known = fd_.load(); known >= 0) return known;
  if (!terms_.directories.take(terms_.clock.now())) return -1;
  UniqueFd fresh(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  int none = -1;
  if (fresh && fd_.compare_exchange_strong(none, fresh.get())) return fresh.release();
  terms_.directories.release();
  return none;  // the descriptor of a different thread, if it was first
}

}  // namespace koord::cgroup
