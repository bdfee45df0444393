// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-block-latency/block_series.hpp"

namespace koord::block_latency {
namespace {

plugin::Metric counter(const koord_host* host, const std::string& name, const char* unit, const std::string& help,
                       double resolution) {
  return {host, {name, unit, help, resolution, KOORD_COUNTER}};
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

DeviceMetrics::DeviceMetrics(const koord_host* host, const std::string& level) {
  const std::string name = level + "_block_device_";
  const std::string of = " requests of a " + level + " to block devices, by device and operation";
  requests = counter(host, name + "requests_total", "requests", "Completed" + of + ".", 1);
  bytes = counter(host, name + "bytes_total", "bytes", "Bytes of the" + of + ".", 512);
  device_time =
      counter(host, name + "seconds_total", "seconds", "Time on the device of the" + of + ", in seconds.", 1e-6);
  queue_time =
      counter(host, name + "queue_seconds_total", "seconds", "Time in the queue of the" + of + ", in seconds.", 1e-6);
}

BlockMetrics::BlockMetrics(const koord_host* host, const std::string& level, bool has_histogram, bool by_device)
    : latency(
          host,
          {level + "_block", "requests of a " + level + " were on a block device, by direction", {99}, has_histogram}),
      time(counter(host, level + "_block_time_seconds_total", "seconds",
                   "Time of all requests of a " + level +
                       " to block devices, by phase: in the queue or on the device, in seconds.",
                   1e-6)) {
  if (by_device) devices = std::make_shared<DeviceMetrics>(host, level);
}

BlockSeries::BlockSeries(const BlockMetrics& metrics, std::uint64_t subject)
    : metrics_(metrics.devices),
      subject_(subject),
      device_time_(metrics.time.series(subject, {{"phase", "device"}})),
      queue_time_(metrics.time.series(subject, {{"phase", "queue"}})) {
  for (Operation direction : kDirections)
    latency_[static_cast<std::size_t>(direction)] =
        latency::LatencySeries(metrics.latency, subject, {{"direction", name_of(direction)}});
}

void BlockSeries::report(const Requests& window, const DeviceNames& names, plugin::Batch& batch,
                         latency::CumulativeCounts& counts) {
  total_ += window.all();
  batch.add(device_time_, seconds(total_.device_ns));
  batch.add(queue_time_, seconds(total_.queue_ns));
  for (Operation direction : kDirections)
    latency_[static_cast<std::size_t>(direction)].report(window.latency_of(direction), batch, counts);
  if (metrics_) report_devices(window, names, batch);
}

void BlockSeries::report_devices(const Requests& window, const DeviceNames& names, plugin::Batch& batch) {
  for (const auto& [device, totals] : window.devices)
    for (Operation operation : kOperations)
      if (totals.of(operation).requests > 0) on_device(device, operation, names).total += totals.of(operation);
  for (const auto& [key, on] : devices_) {
    batch.add(on.requests, static_cast<double>(on.total.requests));
    batch.add(on.bytes, static_cast<double>(on.total.bytes));
    batch.add(on.device_time, seconds(on.total.device_ns));
    batch.add(on.queue_time, seconds(on.total.queue_ns));
  }
}

BlockSeries::OnDevice& BlockSeries::on_device(Device device, Operation operation, const DeviceNames& names) {
  auto [at, is_new] = devices_.try_emplace({device, operation});
  if (!is_new) return at->second;
  const std::string name = names(device);
  const auto series = [&](const plugin::Metric& metric) {
    return metric.series(subject_, {{"device", name}, {"operation", name_of(operation)}});
  };
  at->second = {series(metrics_->requests),
                series(metrics_->bytes),
                series(metrics_->device_time),
                series(metrics_->queue_time),
                {}};
  return at->second;
}

}  // namespace koord::block_latency
