// SPDX-License-Identifier: Apache-2.0
// Usage of a device by processes and by groups of them. Pure: values in, values out.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "plugins/advisor-gpu/nvml.hpp"

namespace koord::gpu {

// A value that is not known makes the sum unknown, never smaller.
struct Usage {
  std::optional<double> core_percent = 0.0;  // of the device's multiprocessors
  std::optional<double> memory_bytes = 0.0;

  void add(const Usage& other);
};

// The usage seen of one device's processes. The driver samples on its own clock, so a sample is good for a while after
// it is gone from the driver's list; a process without one counts as idle.
class ProcessLoad {
 public:
  static constexpr std::uint64_t kGoodForNs = 2'000'000'000;

  // `samples`: nothing if the device has no values by process.
  void update(const std::optional<std::vector<ProcessSample>>& samples, std::uint64_t now_ns);
  // The newest time stamp so far, to ask for what came after it.
  std::uint64_t newest_us() const { return newest_us_; }

  // A process is there because it is in the list of running ones, whatever is known of its load.
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
