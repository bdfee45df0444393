// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/store_lock.hpp"

#include <sys/file.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "core/base/file.hpp"

namespace koord::agentd {
namespace {

// A process that the agent starts holds the agent's descriptors until it executes its program. If the agent is killed
// at that moment, the process holds the lock a little longer than the agent.
constexpr std::chrono::seconds kLockPatience(2);
constexpr std::chrono::milliseconds kLockPeriod(10);

}  // namespace

Result<UniqueFd> lock_store(const std::string& path) {
  if (path.empty()) return UniqueFd();
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  Result<UniqueFd> lock = open_at(AT_FDCWD, path + ".lock", O_RDWR | O_CREAT, 0600);
  if (!lock) return UniqueFd();
  const auto end = std::chrono::steady_clock::now() + kLockPatience;
  while (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0) {
    const int why = errno;
    if (why != EWOULDBLOCK || std::chrono::steady_clock::now() >= end)
      return system_error(why, "the metric cache '" + path + "' belongs to another agent that runs");
    std::this_thread::sleep_for(kLockPeriod);
  }
  return lock;
}

}  // namespace koord::agentd
