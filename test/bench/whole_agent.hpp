// SPDX-License-Identifier: Apache-2.0
// Shared by benchmarks of the whole agent: the cgroups that it measures, and its memory.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::bench {

// The agent's state has only the cgroups of a PodTree.
inline constexpr const char* kPodTreeOnly =
    "state: {source: cgroup, cgroup: {paths: [\"koord-test-bench-*/*\", \"koord-test-bench-*/*/*\"]}}";

// Returns a number of /proc/PID/status that is given in kB, in MiB.
inline double status_mib(pid_t pid, std::string_view key) {
  std::string status = read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
  std::string_view rest = status;
  while (auto line = next_field(rest, '\n')) {
    if (!line->starts_with(key)) continue;
    std::string_view words = line->substr(key.size());
    return static_cast<double>(parse_uint(next_word(words).value_or("0")).value_or(0)) / 1024;
  }
  return 0;
}

inline double resident_mib(pid_t pid) { return status_mib(pid, "VmRSS:"); }
inline double anonymous_mib(pid_t pid) { return status_mib(pid, "RssAnon:"); }

}  // namespace koord::bench
