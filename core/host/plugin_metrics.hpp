// SPDX-License-Identifier: Apache-2.0
// The host's metrics about each plugin: calls, their time and CPU, errors, skipped ticks, restarts, series, up, and the
// scrapes of an external advisor. Updated from the plugins' status for each request of the metrics. [one thread at a
// time]
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/host/plugin_status.hpp"
#include "core/metric/host_metrics.hpp"

namespace koord::host {

class PluginMetrics {
 public:
  explicit PluginMetrics(metric::HostMetrics& metrics) : metrics_(metrics) {}

  void update(const std::vector<PluginStatus>& plugins);

 private:
  struct Metrics {
    metric::HostCounter calls, call_seconds, cpu_seconds, errors, skipped_ticks, deadline_misses, restarts;
    metric::HostCounter dropped_series, reloads, refused_reloads, refused_configs;
    metric::HostCounter soft_breaches, hard_breaches;
    metric::HostGauge series, up, failed;
    metric::HostGauge cpu, cpu_limit, memory, memory_limit, series_limit, tick_deadline, slowdown;
    bool scrapes = false;  // those of external advisors alone
    metric::HostCounter scrape_count, scrape_failures;
    metric::HostGauge scrape_seconds, scraped_samples, dropped_samples, left_out_samples;
  };
  Metrics& of(const std::string& plugin);
  void update_scrapes(Metrics& metrics, const PluginStatus& plugin);

  metric::HostMetrics& metrics_;
  std::map<std::string, Metrics, std::less<>> by_plugin_;
};

}  // namespace koord::host
