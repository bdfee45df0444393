// SPDX-License-Identifier: Apache-2.0
// ManagedPlugin: one plugin file and all that runs of it: checks and maps it on a worker when its gate is first on,
// then has a supervisor for each of its classes. When other content is asked for while it runs, the file is checked
// again; until that is done it goes on, and it ends when what was mapped does not pass. [loop thread] except for what
// is marked [any]. Held by shared_ptr: mapping may end after it was given up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/byte_budget.hpp"
#include "core/config/config.hpp"
#include "core/event/strand.hpp"
#include "core/host/budget.hpp"
#include "core/host/hook_dispatcher.hpp"
#include "core/host/plugin_status.hpp"
#include "core/host/supervisor.hpp"
#include "core/load/file_content.hpp"
#include "core/load/plugin_catalogue.hpp"
#include "core/service/rights.hpp"

namespace koord::service {
struct SharedServices;
}  // namespace koord::service

namespace koord::host {

class ManagedPlugin : public std::enable_shared_from_this<ManagedPlugin> {
 public:
  // References outlive it.
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& pool;
    event::WorkerPool* hook_pool = nullptr;  // of runtime hooks
    service::SharedServices& services;
    knob::PlanSink& plans;
    evict::RequestSink* evictions = nullptr;
    Loader load;
    Loader load_in_child;  // empty: this host has no children
    Duration restart_delay{};
    std::function<void()> changed;  // [any] the status did
    bool hold_ticks = false;        // until release_ticks()
    StateMeter measure_state = {};  // of third parties; empty: no limit
  };

  // How its start came out.
  enum class Start : std::uint8_t { pending, runs, failed };

  ManagedPlugin(Parts parts, load::PluginFile file, unsigned nth);

  const load::PluginFile& file() const { return file_; }
  unsigned nth() const { return nth_; }

  // Makes it run or end, with these settings, if its file has this content and, for a third party's plugin, its process
  // has these layers; the agent's process has none.
  void apply(bool enabled, const config::PluginSettings& settings, const load::ContentDemand& demand,
             const std::vector<config::IsolationLayer>& minimum_isolation = {});
  void stop();

  // For when one replaces another.
  Start how_it_starts(std::string& reason) const;
  void release_ticks();
  // Checks what it uses: warns, makes its ticks slower or faster, restarts it.
  void check_budget();
  // Measures its state directory on a worker, and restarts it if the directory exceeds its limit.
  void check_state_size();
  // Stretches the periods of its advisors at least by this factor, to keep the agent's CPU budget.
  void set_agent_slowdown(unsigned times);
  void restart();
  // Goes on counting where the one before it has stopped.
  void inherit(const PluginStatus& before);
  // A note about a running plugin, shown while it has no worse problem. Empty: none.
  void set_note(const std::string& note);
  void count_refused_reload();

  // [any]
  void notify(std::uint32_t changed, const state::Versions& versions);
  void notify_verdicts(std::uint64_t generation);
  // Ends the processes of instances that were stopped and have not ended.
  void end_processes();
  // Gives up what has not ended; false when something had been or was given up.
  bool write_off_rest(const std::string& reason);
  bool ended() const;
  // Has ended and left nothing behind.
  bool is_gone() const;
  PluginStatus status() const;
  // Its hooks that run and name this stage.
  std::vector<HookTarget> hooks(std::uint32_t stage) const;

 private:
  using Supervisors = std::vector<std::shared_ptr<Supervisor>>;

  // The mapped plugin, and the file it was mapped from.
  struct Mapped {
    std::shared_ptr<const LoadedPlugin> plugin;
    FileVersion stamp;
  };

  void go_on();
  void load();
  Result<Loader> loader() const;
  RunnerLimits runner_limits() const;
  service::Rights rights() const;
  static Result<Mapped> map(const load::PluginFile& file, const load::ContentDemand& demand, const Mapped& known,
                            const Loader& load, const RunnerLimits& limits);
  void loaded(const load::ContentDemand& demand, const Result<Mapped>& mapped);
  void refuse(const std::string& reason);
  void begin();
  void change_settings(const config::PluginSettings& settings);
  void refuse_config(const std::string& reason);
  Result<void> check_config_json() const;
  Result<void> check_isolation() const;
  void set_budget();
  void set_rights();
  void set_grants(const config::PluginSettings& settings);
  void warn_of_root() const;
  void pace();
  void judge_state_size(const Result<std::uint64_t>& bytes, std::uint64_t limit, Duration took);
  void set_mode();
  std::shared_ptr<Supervisor> make_supervisor(std::size_t class_index);
  Supervisor::Pace pace_of(const load::ClassInfo& info) const;
  void set_state(PluginState state, std::string reason = {});
  Supervisors supervisors() const;

  const Parts parts_;
  const load::PluginFile file_;
  const unsigned nth_;
  config::PluginSettings settings_;  // those in force
  Mapped mapped_;
  load::ContentDemand demand_;
  std::vector<config::IsolationLayer> minimum_isolation_;
  std::optional<load::ContentDemand> fulfilled_;  // the demand that mapped_ has last fulfilled
  bool loading_now_ = false;
  std::stop_source loading_stop_;  // of the newest task of loading_
  bool measuring_state_ = false;
  Time state_rests_until_{};                         // it is not measured before
  std::optional<Time> budget_checked_;               // at the budget
  const std::shared_ptr<ByteBudget> scrape_memory_;  // nullptr: no limit

  mutable std::mutex mutex_;  // of what follows
  bool enabled_ = false;
  bool required_ = false;
  bool must_answer_ = false;  // its hooks
  unsigned mappings_ = 0;     // tasks of loading_ that have not ended
  PluginState state_;         // until it has supervisors
  std::string reason_;
  std::optional<IsolationLevel> isolation_;  // of what is mapped
  std::string refusal_;                      // of what had been running
  std::string note_;                         // the note of a running plugin
  service::Rights rights_;                   // from the next start of an instance on
  GrantStatus grants_;                       // of the configuration
  Supervisors supervisors_;
  bool held_;
  PluginStatus inherited_;  // counts only
  Budget budget_;
  unsigned agent_slowdown_ = 1;

  event::Strand loading_, measuring_;  // last: their tasks use the rest
};

}  // namespace koord::host
