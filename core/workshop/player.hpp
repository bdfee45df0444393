// SPDX-License-Identifier: Apache-2.0
// Player: one class of a plugin on a host in memory, called by hand. It is not ticked, restarted or supervised: its
// owner decides which call comes next, with the isolation that the plugin was loaded for. One thread at a time.
#pragma once

#include <memory>
#include <string>

#include "core/host/runner.hpp"
#include "core/service/plugin_context.hpp"
#include "core/workshop/memory_host.hpp"

namespace koord::workshop {

// The class of this name, or the first when it is empty; the error lists the names.
Result<std::size_t> find_class(const host::LoadedPlugin& plugin, std::string_view name);

class Player {
 public:
  struct Role {
    std::string plugin_id;
    std::shared_ptr<const host::LoadedPlugin> plugin;
    std::size_t class_index = 0;
    std::string config_json = "{}";
    host::RunnerLimits limits = {};
    service::Rights rights = {};
  };
  // Grants the same as an agent grants to the class's kind. The host outlives the player.
  Player(MemoryHost& host, Role role);
  ~Player();  // ends it

  const load::ClassInfo& info() const { return info_; }
  service::PluginContext& context() { return *context_; }
  host::Runner& runner() { return *runner_; }
  bool is_running() const { return initialised_; }

  // create, init, and run() on a thread of its own. A configuration that the class's schema refuses is KOORD_E_INVALID.
  // After a failure destroy() has been called, if the ABI requires it.
  service::CallResult start();
  // collect or evaluate; nothing for a kind that has no ticks.
  service::CallResult tick(Time now, Time deadline);
  // Another configuration; refused, the old one stays.
  service::CallResult configure(const std::string& json);
  // stop, the stop signal, run() joined, destroy. The first failure of these; KOORD_E_DEADLINE when run() does not
  // return within `patience`: then it is left alone forever, with all that it may touch, and destroy is not called.
  service::CallResult end(Duration patience = std::chrono::seconds(5));

 private:
  struct RunThread;

  service::CallResult check_config(const std::string& json) const;
  service::CallResult await_run(Duration patience);

  const Role role_;
  const load::ClassInfo& info_;
  std::unique_ptr<service::PluginContext> context_;
  std::unique_ptr<host::Runner> runner_;
  std::unique_ptr<RunThread> run_thread_;
  bool initialised_ = false;
  std::uint64_t config_version_ = 1;
};

}  // namespace koord::workshop
