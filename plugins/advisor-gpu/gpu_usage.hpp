// SPDX-License-Identifier: Apache-2.0
// Usage of a device by processes and by groups of processes. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "plugins/advisor-gpu/nvml.hpp"

namespace koord::gpu {

// Usage of a group. An unknown value makes the sum unknown, not smaller.
struct Usage {
  std::optional<double> core_percent = 0.0;  // share of the device's multiprocessors
  std::optional<double> memory_bytes = 0.0;

  void add(const Usage& other);
};

// The usage of a device by its processes. The driver samples at its own times, so a sample stays valid for a while
// after it has left the driver's list. A process without a sample counts as idle.
class ProcessLoad {
 public:
  static constexpr std::uint64_t kGoodForNs = 2'000'000'000;

  // `samples`: nullopt if the device has no values by process.
  void update(const std::optional<std::vector<ProcessSample>>& samples, std::uint64_t now_ns);
  // Returns the newest time stamp so far, to request newer samples.
  std::uint64_t newest_us() const { return newest_us_; }

  // Returns the usage of a process in the list of running processes, even if its load is unknown.
  Usage of(const Process& process) const;

 private:
  struct Load {
    double percent;
    std::uint64_t time_stamp_us, seen_ns;
  };

  bool is_known_ = false;
  std::uint64_t newest_us_ = 0;
  std::unordered_map<std::uint32_t, Load> loads_;
};

}  // namespace koord::gpu
