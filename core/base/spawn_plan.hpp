// SPDX-License-Identifier: Apache-2.0
// SpawnPlan: arguments of posix_spawn() for a child with descriptors of ours under numbers of its own, with every
// signal at its default and none blocked, whatever this process has set, and with a process group of its own.
// [any thread]
#pragma once

#include <spawn.h>

#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"

namespace koord {

class SpawnPlan {
 public:
  // `last_number`: the largest number that the child gets.
  explicit SpawnPlan(int last_number);
  ~SpawnPlan();
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // The child has `fd` as `number`.
  Result<void> give(int fd, int number);

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  const int last_number_;
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
  std::vector<UniqueFd> given_;
};

}  // namespace koord
