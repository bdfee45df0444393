// SPDX-License-Identifier: Apache-2.0
// Quiet latencies of block I/O as text, to save them for restarts: records of core/base/record.hpp, one for each
// workload, device and direction. Pure. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/saved_limits.hpp"
#include "core/base/clock.hpp"

namespace koord::analysis {

inline constexpr int kLatencyVersion = 1;
// A key of koord.kv/1.
inline constexpr const char* kLatenciesKey = "baselines/blkio";
// Stands for all workloads on a device. No workload can have this name.
inline constexpr const char* kAllOnDevice = ":device";

// A known median.
struct SavedMedian {
  double value = 0;         // in seconds
  double weight = 0;        // number of samples that the value counts for at the time `seen`
  std::size_t windows = 0;  // number of windows

  bool operator==(const SavedMedian&) const = default;
};

struct SavedLatency {
  std::string workload;
  Time seen{};  // time of its last window
  std::uint32_t device = 0;
  std::string device_name;  // such as "vda"; after a reboot the device number may belong to a different device
  bool is_write = false;
  SavedMedian mean, p99;

  bool operator==(const SavedLatency&) const = default;
};

// Writes the most recently seen latencies first, as many as fit into `max_bytes`. Omits a latency if a name cannot be a
// field.
std::string write_latencies(std::vector<SavedLatency> all, std::size_t max_bytes = kMaxSavedBytes);

struct ReadLatencies {
  std::vector<SavedLatency> latencies;
  std::vector<std::string> problems;  // see read_records()
  std::string unread;                 // lines with problems, 32 KiB at most
};
ReadLatencies read_latencies(std::string_view text);

}  // namespace koord::analysis
