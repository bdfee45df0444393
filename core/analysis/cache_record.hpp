// SPDX-License-Identifier: Apache-2.0
// The usual CPI of workloads as text, to save it for restarts: records of core/base/record.hpp, one for each workload.
// Pure. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/saved_limits.hpp"
#include "core/base/clock.hpp"

namespace koord::analysis {

inline constexpr int kCpiVersion = 1;

struct SavedCpi {
  std::string workload;
  Time seen{};              // time of its last window
  std::size_t windows = 0;  // number of windows
  Duration known{};         // time from the first to the last window
  double weight = 0;        // number of windows that the mean counts for at the time `seen`
  double mean = 0, deviation = 0;

  bool operator==(const SavedCpi&) const = default;
};

// Writes the most recently seen workloads first, as many as fit into `max_bytes`. Omits a workload if its name cannot
// be a field.
std::string write_cpi(std::vector<SavedCpi> all, std::size_t max_bytes = kMaxSavedBytes);

struct ReadCpi {
  std::vector<SavedCpi> workloads;
  std::vector<std::string> problems;  // see read_records()
  std::string unread;                 // lines with problems, 32 KiB at most
};
ReadCpi read_cpi(std::string_view text);

}  // namespace koord::analysis
