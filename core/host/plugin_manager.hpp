// SPDX-License-Identifier: Apache-2.0
// PluginManager: finds plugins, decides which may run, and keeps them running. It reads the manifests in the
// plugin directories, makes their feature gates known, loads those whose gate is on, and refuses the others
// with one line; a bad plugin never keeps the agent or another plugin from running.
//
// Start:  discover(gates) → the caller applies the configured gates → apply(settings, gates).
// Reload: the same again, with a copy of the gates; new plugins begin, disabled ones end, changed ones get an event;
// known files stay as they were mapped.
// Replacement of one: rediscover(gates) → the caller applies the configured gates → replace(id, …).
// [loop thread] unless marked [any]. All references must outlive it. Destroy it after stop(), before the loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/config/config.hpp"
#include "core/config/feature_gates.hpp"
#include "core/host/plugin_status.hpp"
#include "core/host/restart_policy.hpp"
#include "core/host/runner.hpp"
#include "core/load/file_content.hpp"

namespace koord::event {
class Loop;
class WorkerPool;
}  // namespace koord::event

namespace koord::evict {
class RequestSink;
}

namespace koord::knob {
class PlanSink;
}

namespace koord::metric {
class HostMetrics;
}

namespace koord::service {
struct SharedServices;
}  // namespace koord::service

namespace koord::host {

struct HookTarget;

class PluginManager {
 public:
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& pool;
    service::SharedServices& services;
    metric::HostMetrics& metrics;
    knob::PlanSink& plans;
    evict::RequestSink* evictions = nullptr;  // null: evictions are off
    Loader load = {};                         // empty: load in this process
    Loader load_in_child = {};                // empty: a plugin that is to live in a child is refused
    // After the first failure; then twice as long each time.
    Duration restart_delay = RestartPolicy::kFirstDelay;
    // Between two looks at what the plugins use.
    Duration budget_period = std::chrono::seconds(5);
    // Empty: state directories have no limit.
    StateMeter measure_state = {};
    // Polled while there are plugins of third parties. When it falls, the directories are measured before the next
    // budget_period. Empty: they are not.
    SpaceMeter state_space = {};
    Duration space_period = std::chrono::milliseconds(100);
    // A plugin's state or the reason of it changed: to log it. On the loop thread.
    std::function<void(const PluginStatus&)> on_change = {};
  };

  explicit PluginManager(Parts parts);
  ~PluginManager();
  PluginManager(const PluginManager&) = delete;
  PluginManager& operator=(const PluginManager&) = delete;

  // Reads the manifests in the directories of the settings and adds the gates. Problems with a file or a directory are
  // in status(), not here: they do not affect the others.
  void discover(const config::PluginsSettings& settings, config::FeatureGates& gates);

  // Makes what runs agree with the gates and settings. The keys are those of settings.trusted_keys.
  void apply(const config::PluginsSettings& settings, const config::FeatureGates& gates,
             const std::vector<load::TrustedKey>& keys = {});

  // Reads the directories again and adds the gates of what lies there now, and nothing else.
  void rediscover(const config::PluginsSettings& settings, config::FeatureGates& gates);

  // Replaces the running plugin by the file that rediscover() found under this id: starts it beside the old one, which
  // ticks until the new one has started, and goes on when that fails. A plugin that did not run is started. `done`
  // gets the result, once, on the loop.
  using Done = std::function<void(const Result<void>& replaced)>;
  void replace(const std::string& id, const config::PluginsSettings& settings, const config::FeatureGates& gates,
               const std::vector<load::TrustedKey>& keys, Done done);

  // Ends all plugins and waits for them, at most `grace`. Processes that have not ended after kStopGrace are killed.
  // False when one had to be left behind: its thread may still use what it was given, so the process should then end
  // with _exit and not take its parts down.
  bool stop(Duration grace = std::chrono::seconds(5));

  // [any]
  std::vector<PluginStatus> status() const;
  Readiness ready() const;
  // plugins.minimumIsolation.
  std::vector<config::IsolationLayer> minimum_isolation() const;
  // The runtime hooks that run and name this stage, by the ids of their plugins and the names of their classes.
  std::vector<HookTarget> hooks(std::uint32_t stage) const;
  // The annotations of pods that plugins say they read, of all that are known.
  std::vector<std::string> annotations() const;
  // Problems of the directories themselves, one line each.
  std::vector<std::string> problems() const;
  // A line for each id of plugins.settings that no plugin has that was found.
  std::vector<std::string> unknown_settings() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace koord::host
