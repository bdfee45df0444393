// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/store_lock.hpp"

#include <sys/file.h>

#include <filesystem>

#include "core/base/file.hpp"

namespace koord::agentd {

Result<UniqueFd> lock_store(const std::string& path) {
  if (path.empty()) return UniqueFd();
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  Result<UniqueFd> lock = open_at(AT_FDCWD, path + ".lock", O_RDWR | O_CREAT, 0600);
  if (!lock) return UniqueFd();
  if (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0)
    return system_error(errno, "the metric cache '" + path + "' belongs to another agent that runs");
  return lock;
}

}  // namespace koord::agentd
