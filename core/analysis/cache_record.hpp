// SPDX-License-Identifier: Apache-2.0
// The usual CPI of workloads as text, to keep it over restarts: records of core/base/record.hpp, one for each workload.
// Pure. [any thread]
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"

namespace koord::analysis {

inline constexpr int kCpiVersion = 1;
inline constexpr std::size_t kMaxCpiBytes = 256u << 10;

struct SavedCpi {
  std::string workload;
  Time seen{};              // its last window
  std::size_t windows = 0;  // that it had
  Duration known{};         // from the first to the last
  double weight = 0;        // windows that count at `seen`
  double mean = 0, deviation = 0;

  bool operator==(const SavedCpi&) const = default;
};

// Those seen last come first, as many as fit into `max_bytes`. A workload is left out if its name cannot be a field.
std::string write_cpi(std::vector<SavedCpi> all, std::size_t max_bytes = kMaxCpiBytes);

struct ReadCpi {
  std::vector<SavedCpi> workloads;
  std::vector<std::string> problems;  // as of read_records()
};
ReadCpi read_cpi(std::string_view text);

}  // namespace koord::analysis
