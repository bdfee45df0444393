// SPDX-License-Identifier: Apache-2.0
// Children, threads and capabilities of this process, as the kernel reports them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/linux_capability.hpp"

namespace koord::test {

// Returns the descendants of this process that run koord-plugin-host.
inline std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t pid; list >> pid;) found.push_back(pid);
  }
  return found;
}

// Counts the threads of this process with this name and state: S sleeps, R is runnable.
inline int threads_in_state(const std::string& name, char state) {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string stat;
    std::getline(std::ifstream(task.path() / "stat"), stat);
    count += stat.find("(" + name + ") " + state) != std::string::npos ? 1 : 0;
  }
  return count;
}

// Returns one of a process' capability sets, such as "CapEff:".
inline CapabilityMask capabilities_of(pid_t pid, std::string_view set) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(set)) return std::stoull(line.substr(set.size()), nullptr, 16);
  return ~CapabilityMask{0};
}

}  // namespace koord::test
