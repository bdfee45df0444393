// SPDX-License-Identifier: Apache-2.0
// The metrics of block I/O for one level (pod or container), and the series of one subject. Used on the plugin's
// strand.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-block-io/block_io.hpp"
#include "plugins/advisor-block-io/device_names.hpp"

namespace koord::block_io {

// Defines "<level>_block_read_bytes_total" and the three related metrics, in the order of Counters.
struct LevelMetrics {
  LevelMetrics() = default;
  LevelMetrics(const koord_host* host, const std::string& level);

  const koord_host* host = nullptr;
  const koord_svc_metrics* service = nullptr;
  std::array<plugin::Metric, kCounters> counters;
};

class IoSeries {
 public:
  // The metrics must outlive this object.
  IoSeries(const LevelMetrics& metrics, std::uint64_t subject) : metrics_(&metrics), subject_(subject) {}

  void report(const Row& row, DeviceNames& names, std::uint64_t now_ns, plugin::Batch& batch);

 private:
  struct OfDevice {
    std::string name;
    std::array<std::uint64_t, kCounters> series{};  // 0: not created yet
  };
  void end(OfDevice& device) const;

  const LevelMetrics* metrics_;
  std::uint64_t subject_;
  std::map<std::optional<DeviceNumber>, OfDevice> devices_;
};

}  // namespace koord::block_io
