// SPDX-License-Identifier: Apache-2.0
// The metrics of memory latency for one level (node, pod or container), and the series of one subject. Used on the
// plugin's strand.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-memory-latency/memory_latency.hpp"
#include "plugins/shared/latency/latency_series.hpp"

namespace koord::memory_latency {

struct MemoryMetrics {
  MemoryMetrics() = default;
  MemoryMetrics(const koord_host* host, const std::string& level, bool has_histogram);

  plugin::Metric stalled, ratio;
  latency::LatencyMetrics latency;
};

class MemorySeries {
 public:
  MemorySeries() = default;
  MemorySeries(const MemoryMetrics& metrics, std::uint64_t subject);

  // Adds a window to the running totals and adds both to the batch. `length_ns`: length of the window; nullopt if it
  // began before the agent started.
  void report(const Stalls& window, std::optional<std::uint64_t> length_ns, plugin::Batch& batch,
              latency::CumulativeCounts& counts);

 private:
  std::array<std::uint64_t, kKinds.size()> stalled_{};
  std::array<std::uint64_t, kKinds.size()> total_ns_{};
  std::uint64_t ratio_ = 0;
  latency::LatencySeries latency_;
};

}  // namespace koord::memory_latency
