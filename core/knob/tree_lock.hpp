// SPDX-License-Identifier: Apache-2.0
// TreeLock: lets one agent at a time write to a cgroup tree. A second one, with a journal of its own, would take values
// of the first for originals, and both would revert to values that no pod should have.
//
// The lock is an flock(2) of the root directory of each hierarchy. The kernel keeps it by inode: it holds between
// containers, mount and PID namespaces that share the tree, needs no file of its own, and ends with its process. A user
// who may read the tree can take it first; the error then names that process. Plugins cannot: the filter of a child
// refuses flock(2). [one thread at a time]
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::knob {

class TreeLock {
 public:
  // `directories`: roots of hierarchies; none: the lock is always free. `proc`: where to look for the process that
  // holds the lock.
  explicit TreeLock(std::vector<std::string> directories, std::string proc = "/proc");

  // Does nothing when this has the lock already. The error names the tree, and, as far as they are known, the process
  // that holds the lock and its qos.directory.
  Result<void> lock();
  void unlock();

 private:
  std::string holder_of(const struct stat& about) const;

  std::vector<std::string> directories_;
  std::string proc_;
  std::vector<UniqueFd> held_;
  bool is_held_ = false;
};

}  // namespace koord::knob
