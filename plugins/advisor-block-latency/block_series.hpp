// SPDX-License-Identifier: Apache-2.0
// The metrics of block latency for one level (node, pod or container), and the series of one subject. Used on the
// plugin's strand.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-block-latency/block_latency.hpp"
#include "plugins/shared/latency/latency_series.hpp"

namespace koord::block_latency {

// Returns the label of a device: its name, or its number if it has no name.
using DeviceNames = std::function<std::string(Device)>;

// Metrics by device and operation.
struct DeviceMetrics {
  DeviceMetrics(const koord_host* host, const std::string& level);

  plugin::Metric requests, bytes, device_time, queue_time;
};

struct BlockMetrics {
  BlockMetrics() = default;
  BlockMetrics(const koord_host* host, const std::string& level, bool has_histogram, bool by_device);

  latency::LatencyMetrics latency;
  plugin::Metric time;                           // one series for each phase
  std::shared_ptr<const DeviceMetrics> devices;  // null: no series by device
};

class BlockSeries {
 public:
  BlockSeries() = default;
  BlockSeries(const BlockMetrics& metrics, std::uint64_t subject);

  // Adds a window to the running totals and adds both to the batch.
  void report(const Requests& window, const DeviceNames& names, plugin::Batch& batch,
              latency::CumulativeCounts& counts);

 private:
  struct OnDevice {
    std::uint64_t requests = 0, bytes = 0, device_time = 0, queue_time = 0;  // ids of series
    OperationTotals total;
  };
  // Creates the series at the first request, because most subjects use few devices.
  OnDevice& on_device(Device device, Operation operation, const DeviceNames& names);
  void report_devices(const Requests& window, const DeviceNames& names, plugin::Batch& batch);

  std::shared_ptr<const DeviceMetrics> metrics_;
  std::uint64_t subject_ = 0;
  std::array<latency::LatencySeries, kDirections.size()> latency_;
  std::uint64_t device_time_ = 0, queue_time_ = 0;
  OperationTotals total_;
  std::map<std::pair<Device, Operation>, OnDevice> devices_;
};

}  // namespace koord::block_latency
