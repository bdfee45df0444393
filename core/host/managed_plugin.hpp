// SPDX-License-Identifier: Apache-2.0
// ManagedPlugin: one plugin file and all that runs of it: maps it on a worker when its gate is first on, then
// has a supervisor for each of its classes. [loop thread] but for what is marked [any]. Held by shared_ptr:
// mapping may end after it was given up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/config/config.hpp"
#include "core/event/strand.hpp"
#include "core/host/plugin_catalogue.hpp"
#include "core/host/plugin_status.hpp"
#include "core/host/supervisor.hpp"

namespace koord::host {

struct SharedServices;

class ManagedPlugin : public std::enable_shared_from_this<ManagedPlugin> {
 public:
  // References outlive it.
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& pool;
    SharedServices& services;
    PlanSink& plans;
    Loader load;
    Loader load_in_child;  // empty: this host has no children
    Duration restart_delay{};
    std::function<void()> changed;  // [any] the status did
  };

  ManagedPlugin(Parts parts, PluginFile file, unsigned nth);

  const PluginFile& file() const { return file_; }

  // Makes it run or end, with these settings.
  void apply(bool enabled, const config::PluginSettings& settings);
  void stop();

  // [any]
  void notify(std::uint32_t changed, const state::Versions& versions);
  // Gives up what has not ended; false when something had been or was given up.
  bool write_off_rest(const std::string& reason);
  bool ended() const;
  PluginStatus status() const;

 private:
  using Supervisors = std::vector<std::shared_ptr<Supervisor>>;

  void load();
  Result<Loader> loader() const;
  HomeLimits home_limits() const;
  void loaded(const Result<std::shared_ptr<const LoadedPlugin>>& plugin);
  void begin();
  void change_settings(const config::PluginSettings& settings);
  Result<void> check_config_json() const;
  void set_budget();
  std::shared_ptr<Supervisor> make_supervisor(std::size_t class_index);
  Supervisor::Pace pace_of(const ClassInfo& info) const;
  void set_state(PluginState state, std::string reason = {});
  void set_note(std::string note);
  Supervisors supervisors() const;

  const Parts parts_;
  const PluginFile file_;
  const unsigned nth_;
  config::PluginSettings settings_;  // those in force
  std::shared_ptr<const LoadedPlugin> plugin_;

  mutable std::mutex mutex_;  // of what follows
  bool enabled_ = false;
  bool required_ = false;
  bool mapping_ = false;
  PluginState state_;  // until it has supervisors
  std::string reason_;
  std::string note_;  // what is to be said of a running plugin
  Supervisors supervisors_;

  event::Strand loading_;  // last: its tasks use the rest
};

}  // namespace koord::host
