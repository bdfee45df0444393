// SPDX-License-Identifier: Apache-2.0
// PluginManager::State: the plugins that are known, those that are coming up or ending, and what the agent uses. [loop
// thread] unless marked [any]
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/host/agent_budget.hpp"
#include "core/host/in_process_runner.hpp"
#include "core/host/managed_plugin.hpp"
#include "core/host/plugin_manager.hpp"
#include "core/host/plugin_metrics.hpp"
#include "core/host/replacement.hpp"
#include "core/host/space_watch.hpp"
#include "core/service/shared_services.hpp"

namespace koord::host {

using Plugins = std::vector<std::shared_ptr<ManagedPlugin>>;

struct PluginManager::State : std::enable_shared_from_this<State> {
  explicit State(Parts p) : parts(std::move(p)), metrics(parts.metrics) {
    if (!parts.load) parts.load = load_in_process;
  }

  void subscribe();
  void unsubscribe();
  void verdicts_changed();
  void changed();
  void report();
  std::shared_ptr<ManagedPlugin> make(load::PluginFile file, unsigned nth, bool hold_ticks);
  void add_gate(load::PluginFile& file, config::FeatureGates& gates) const;
  void take(load::PluginFile file, config::FeatureGates& gates);
  void advance_replacements();
  void put_in_place(const Replacement& replacement);
  void retire(std::shared_ptr<ManagedPlugin> plugin);
  void drop_missing(const load::Catalogue& catalogue);
  Plugins all() const;
  Plugins all_with_coming() const;
  std::vector<PluginStatus> status() const;
  void check_budgets();
  void check_agent_budget(const Plugins& running);
  void check_space();

  Parts parts;
  PluginMetrics metrics;
  std::unique_ptr<event::WorkerPool> hook_pool;  // once there is a hook
  std::uint64_t hub_subscription = 0, verdict_subscription = 0;
  std::atomic<bool> verdict_event_due = false;
  std::unique_ptr<event::Timer> verdict_timer;  // until that event
  unsigned next_nth = 0;
  std::unique_ptr<event::Timer> budget_timer;
  std::unique_ptr<event::Timer> space_timer;
  SpaceWatch space_watch;
  AgentBudget agent_budget;
  metric::HostGauge cpu_cores =
      parts.metrics.gauge("host_cpu_cores", "Cores that the agent and its plugins used lately.");
  metric::HostGauge cpu_budget_cores =
      parts.metrics.gauge("host_cpu_budget_cores", "Cores that the agent and its plugins may use; 0: no limit.");
  metric::HostGauge advisor_slowdown = parts.metrics.gauge(
      "host_advisor_slowdown", "Factor that stretches advisors' periods to keep the CPU budget; 1: not stretched.");
  std::uint64_t cpu_budget_millis = 0;
  load::Catalogue seen_last;  // by rediscover()
  std::vector<std::unique_ptr<Replacement>> replacements;
  Plugins retired;                              // their files are gone or were replaced; ending
  std::map<std::string, std::string> reported;  // by path: state and reason last given to on_change
  std::atomic<bool> report_posted = false;

  std::mutex ended_mutex;
  std::condition_variable ended;

  mutable std::mutex mutex;  // of what follows
  Plugins plugins;
  std::vector<std::string> problems;
  std::vector<std::string> unknown_settings;
  std::vector<std::string> required;
  std::vector<config::IsolationLayer> minimum_isolation;
  Plugins coming_up;  // beside one of `plugins`
};

}  // namespace koord::host
