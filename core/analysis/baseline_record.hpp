// SPDX-License-Identifier: Apache-2.0
// Baselines as text, to save them for restarts: records of core/base/record.hpp, one for each workload. Pure. [any
// thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/saved_limits.hpp"
#include "core/base/clock.hpp"

namespace koord::analysis {

// The version of the format and of Baseline::kShares.
inline constexpr int kBaselineVersion = 1;
inline constexpr std::size_t kMaxQuietSuspects = 8;
// Keys of koord.kv/1: for the baselines of this node, and for the baselines of the cluster that the agent offers for
// new workloads.
inline constexpr const char* kBaselinesKey = "baselines/cpu";
inline constexpr const char* kOfferedBaselinesKey = "host/interference_baselines";
// The same two keys for baselines of memory.
inline constexpr const char* kMemoryBaselinesKey = "baselines/memory";
inline constexpr const char* kOfferedMemoryBaselinesKey = "host/interference_memory_baselines";

// The resource of a baseline.
enum class BaselineOf { cpu, memory };

struct SavedBaseline {
  std::string workload;
  Time seen{};                                          // time of its last window
  std::size_t windows = 0;                              // number of windows
  std::vector<std::pair<std::size_t, double>> weights;  // bucket of Baseline::kShares, and its samples at `seen`
  std::vector<std::pair<std::string, double>> quiet;    // suspect, and the wait for it in quiet windows

  bool operator==(const SavedBaseline&) const = default;
};

// Writes the most recently seen baselines first, as many as fit into `max_bytes`. Omits a workload if its name cannot
// be a field.
std::string write_baselines(std::vector<SavedBaseline> baselines, std::size_t max_bytes = kMaxSavedBytes,
                            BaselineOf resource = BaselineOf::cpu);

// Returns the offered baselines of workloads with fewer than `enough` windows on this node. `windows_of`: the number of
// windows of a workload; 0: unknown.
template <class WindowsOf>
std::vector<SavedBaseline> less_known(const std::vector<SavedBaseline>& offered, std::size_t enough,
                                      WindowsOf windows_of) {
  std::vector<SavedBaseline> wanted;
  for (const SavedBaseline& one : offered)
    if (windows_of(one.workload) < enough) wanted.push_back(one);
  return wanted;
}

struct ReadBaselines {
  std::vector<SavedBaseline> baselines;
  std::vector<std::string> problems;  // see read_records()
  std::string unread;                 // lines with problems, 32 KiB at most
};
ReadBaselines read_baselines(std::string_view text, BaselineOf resource = BaselineOf::cpu);

}  // namespace koord::analysis
