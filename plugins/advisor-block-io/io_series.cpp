// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-block-io/io_series.hpp"

namespace koord::block_io {

LevelMetrics::LevelMetrics(const koord_host* of, const std::string& level)
    : host(of), service(plugin::require<koord_svc_metrics>(of, "koord.metrics/1")) {
  const auto define = [&](const char* what, const char* unit, const std::string& help, double resolution) {
    const std::string name = level + "_block_" + what, sentence = help + " block devices by a " + level + ".";
    return plugin::Metric(of, {name, unit, sentence, resolution, KOORD_COUNTER});
  };
  counters[kReadBytes] = define("read_bytes_total", "bytes", "Bytes read from", 512);
  counters[kWriteBytes] = define("write_bytes_total", "bytes", "Bytes written to", 512);
  counters[kReads] = define("reads_total", "operations", "Read operations on", 1);
  counters[kWrites] = define("writes_total", "operations", "Write operations on", 1);
}

void IoSeries::report(const Row& row, DeviceNames& names, std::uint64_t now_ns, plugin::Batch& batch) {
  OfDevice& device = devices_[row.device];
  const std::string name = row.device ? names.name(*row.device, now_ns) : "other";
  if (device.name != name) {
    end(device);
    device.name = name;
  }
  const std::string number = row.device ? number_text(*row.device) : "";
  for (std::size_t i = 0; i < kCounters; ++i) {
    if (row.totals[i] == cgroup::kAbsent) continue;
    if (device.series[i] == 0)
      device.series[i] = metrics_->counters[i].series(subject_, {{"device", name}, {"device_number", number}});
    batch.add(device.series[i], static_cast<double>(row.totals[i]));
  }
}

void IoSeries::end(OfDevice& device) const {
  for (std::uint64_t& series : device.series) {
    if (series != 0) metrics_->service->end_series(metrics_->host, series);
    series = 0;
  }
}

}  // namespace koord::block_io
