// SPDX-License-Identifier: Apache-2.0
// This process's children, threads and capabilities, as the kernel shows them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/linux_capability.hpp"

namespace koord::test {

// The processes that koord-plugin-host runs in below this one.
inline std::vector<pid_t> children() {
  std::vector<pid_t> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t pid; list >> pid;) found.push_back(pid);
  }
  return found;
}

// How many threads of this process have this name and state: S waits, R wants a CPU.
inline int threads_in_state(const std::string& name, char state) {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string stat;
    std::getline(std::ifstream(task.path() / "stat"), stat);
    count += stat.find("(" + name + ") " + state) != std::string::npos ? 1 : 0;
  }
  return count;
}

// One of a process' sets, "CapEff:" and so on.
inline CapabilityMask capabilities_of(pid_t pid, std::string_view set) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(set)) return std::stoull(line.substr(set.size()), nullptr, 16);
  return ~CapabilityMask{0};
}

}  // namespace koord::test
