// SPDX-License-Identifier: Apache-2.0
#include "core/host/plugin_metrics.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/to_seconds.hpp"

namespace koord::host {
namespace {

bool is_failure(PluginState state) {
  using enum PluginState;
  return state == refused || state == failed || state == wedged || state == parked;
}

// Raises the counter to the total in the status.
void raise_to(metric::HostCounter& counter, double total) {
  if (total > counter.value()) counter.add(total - counter.value());
}

}  // namespace

PluginMetrics::Metrics& PluginMetrics::of(const std::string& plugin) {
  if (auto known = by_plugin_.find(plugin); known != by_plugin_.end()) return known->second;
  const metric::Labels labels{{"plugin", plugin}};
  auto counter = [&](const char* name, const char* help) { return metrics_.counter(name, help, labels); };
  Metrics made{
      .calls = counter("plugin_calls_total", "Calls of the plugin's functions."),
      .call_seconds = counter("plugin_call_seconds_total", "Time the plugin's functions took."),
      .cpu_seconds = counter("plugin_cpu_seconds_total", "CPU time the plugin's functions took."),
      .errors = counter("plugin_errors_total", "Calls that did not return KOORD_OK."),
      .skipped_ticks = counter("plugin_skipped_ticks_total", "Ticks skipped because the one before was not done."),
      .deadline_misses = counter("plugin_deadline_misses_total", "Ticks that took longer than their deadline."),
      .restarts = counter("plugin_restarts_total", "Times the plugin began again after a failure."),
      .dropped_series = counter("plugin_dropped_series_total", "Series asked for beyond the plugin's budget."),
      .reloads = counter("plugin_reloads_total", "Times the plugin's file was replaced while the agent ran."),
      .refused_reloads =
          counter("plugin_refused_reloads_total", "Times the plugin's file was to be replaced and was not."),
      .refused_configs = counter("plugin_refused_configs_total", "Times the plugin kept its old configuration."),
      .soft_breaches = counter("plugin_soft_breaches_total", "Times the plugin came near one of its limits."),
      .hard_breaches =
          counter("plugin_hard_breaches_total", "Times the plugin was restarted because it exceeded a limit."),
      .series = metrics_.gauge("plugin_series", "Living series of the plugin.", labels),
      .up = metrics_.gauge("plugin_up", "1 when the plugin runs.", labels),
      .failed = metrics_.gauge("plugin_failed", "1 while the plugin is refused, failed, wedged or parked.", labels),
      .cpu = metrics_.gauge("plugin_cpu_cores", "Cores that the plugin used lately.", labels),
      .cpu_limit = metrics_.gauge("plugin_cpu_limit_cores", "Cores that the plugin may use; 0: no limit.", labels),
      .memory =
          metrics_.gauge("plugin_memory_bytes", "Memory of the plugin's own processes; 0 when it has none.", labels),
      .memory_limit = metrics_.gauge("plugin_memory_limit_bytes", "Memory that they may use; 0: no limit.", labels),
      .series_limit = metrics_.gauge("plugin_series_limit", "Series that the plugin may have; 0: no limit.", labels),
      .tick_deadline = metrics_.gauge("plugin_tick_deadline_seconds",
                                      "Time that a tick of the plugin may take; 0: it has none.", labels),
      .slowdown = metrics_.gauge("plugin_slowdown",
                                 "How many times its period the plugin ticks at; 1 when all is well.", labels),
  };
  return by_plugin_.emplace(plugin, made).first->second;
}

// Updates the sums over all endpoints of the plugin. The duration is the duration of the slowest endpoint.
void PluginMetrics::update_scrapes(Metrics& metrics, const PluginStatus& plugin) {
  ScrapeStatus all;
  for (const InstanceStatus& instance : plugin.instances) {
    all.scrapes += instance.scrape_count;
    all.failures += instance.scrape_failures;
    for (const ScrapeStatus& scrape : instance.scrapes) {
      all.taken += scrape.taken;
      all.dropped += scrape.dropped;
      all.left_out += scrape.left_out;
      all.duration = std::max(all.duration, scrape.duration);
    }
  }
  if (all.scrapes == 0) return;
  if (!std::exchange(metrics.scrapes, true)) {
    const metric::Labels labels{{"plugin", plugin.id}};
    metrics.scrape_count = metrics_.counter("plugin_scrapes_total", "Scrapes for an external advisor.", labels);
    metrics.scrape_failures = metrics_.counter("plugin_scrape_failures_total", "Scrapes that gave nothing.", labels);
    metrics.scrape_seconds = metrics_.gauge("plugin_scrape_seconds", "Time of the last scrape.", labels);
    metrics.scraped_samples =
        metrics_.gauge("plugin_scraped_samples", "Samples taken from the last good scrape.", labels);
    metrics.dropped_samples = metrics_.gauge("plugin_scrape_dropped_samples",
                                             "Samples of the last good scrape that the plugin left out.", labels);
    metrics.left_out_samples = metrics_.gauge("plugin_scrape_left_out_samples",
                                              "Samples of the last good scrape that the host could not take.", labels);
  }
  raise_to(metrics.scrape_count, static_cast<double>(all.scrapes));
  raise_to(metrics.scrape_failures, static_cast<double>(all.failures));
  metrics.scrape_seconds.set(to_seconds(all.duration));
  metrics.scraped_samples.set(static_cast<double>(all.taken));
  metrics.dropped_samples.set(static_cast<double>(all.dropped));
  metrics.left_out_samples.set(static_cast<double>(all.left_out));
}

void PluginMetrics::update(const std::vector<PluginStatus>& plugins) {
  std::set<std::string_view> seen;  // a second file with the same id is refused and not counted
  for (const PluginStatus& plugin : plugins) {
    bool was_on = plugin.enabled || by_plugin_.contains(plugin.id);
    if (!was_on || !seen.insert(plugin.id).second) continue;
    Metrics& metrics = of(plugin.id);
    raise_to(metrics.calls, static_cast<double>(plugin.counts.calls));
    raise_to(metrics.call_seconds, to_seconds(plugin.counts.wall));
    raise_to(metrics.cpu_seconds, to_seconds(plugin.counts.cpu));
    raise_to(metrics.errors, static_cast<double>(plugin.counts.errors));
    raise_to(metrics.skipped_ticks, static_cast<double>(plugin.counts.skipped_ticks));
    raise_to(metrics.deadline_misses, static_cast<double>(plugin.counts.deadline_misses));
    raise_to(metrics.restarts, static_cast<double>(plugin.restarts));
    raise_to(metrics.dropped_series, static_cast<double>(plugin.dropped_series));
    raise_to(metrics.reloads, static_cast<double>(plugin.reloads));
    raise_to(metrics.refused_reloads, static_cast<double>(plugin.refused_reloads));
    raise_to(metrics.refused_configs, static_cast<double>(plugin.refused_configs));
    const BudgetStatus& budget = plugin.budget;
    raise_to(metrics.soft_breaches, static_cast<double>(budget.soft_breaches));
    raise_to(metrics.hard_breaches, static_cast<double>(budget.hard_breaches));
    metrics.cpu.set(budget.cpu_cores.value_or(0));
    metrics.cpu_limit.set(static_cast<double>(budget.cpu_millis) / 1000);
    metrics.memory.set(static_cast<double>(budget.memory_bytes.value_or(0)));
    metrics.memory_limit.set(static_cast<double>(budget.memory_limit_bytes));
    metrics.series_limit.set(static_cast<double>(budget.series_limit));
    metrics.tick_deadline.set(to_seconds(budget.tick_deadline));
    metrics.slowdown.set(budget.slowdown);
    metrics.series.set(static_cast<double>(plugin.series));
    update_scrapes(metrics, plugin);
    metrics.up.set(plugin.state == PluginState::running ? 1 : 0);
    metrics.failed.set(is_failure(plugin.state) ? 1 : 0);
  }
}

}  // namespace koord::host
