// SPDX-License-Identifier: Apache-2.0
// Agent: owns all parts of the daemon. Starts them in order and stops them in reverse order. [main thread, which runs
// the loop] except where marked.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/agentd/baseline_checkpoints.hpp"
#include "core/agentd/command_line.hpp"
#include "core/agentd/detection_rule_watch.hpp"
#include "core/agentd/evictions.hpp"
#include "core/agentd/hook_answers.hpp"
#include "core/agentd/hook_questions.hpp"
#include "core/agentd/hooks.hpp"
#include "core/agentd/metrics_access.hpp"
#include "core/agentd/nri_hooks.hpp"
#include "core/agentd/prediction.hpp"
#include "core/agentd/qos.hpp"
#include "core/agentd/reporting.hpp"
#include "core/agentd/services.hpp"
#include "core/agentd/slo_watch.hpp"
#include "core/agentd/state_feeder.hpp"
#include "core/agentd/strategy_watch.hpp"
#include "core/agentd/takeover_koordlet.hpp"
#include "core/agentd/verdict_watch.hpp"
#include "core/agentd/verdicts.hpp"
#include "core/agentd/volume_facts.hpp"
#include "core/api/api.hpp"
#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/base/unique_fd.hpp"
#include "core/child/layers.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/config/config.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/host/inactive_plugins.hpp"
#include "core/host/plugin_manager.hpp"
#include "core/http/server.hpp"
#include "core/metric/host_metrics.hpp"
#include "core/service/shared_services.hpp"
#include "core/store/store.hpp"

namespace koord::agentd {

class Agent {
 public:
  // Opens everything that the agent needs. Fails if the agent cannot run at all.
  static Result<std::unique_ptr<Agent>> make(config::Config config, CommandLine line);

  // Runs until SIGTERM or SIGINT, then reverts all knobs and ends within 5 s. SIGHUP reads the configuration again.
  int run();

 private:
  Agent(config::Config config, CommandLine line, UniqueFd store_lock, std::unique_ptr<SystemClock> clock,
        std::unique_ptr<store::Store> store, cgroup::Layout layout);

  Result<void> start();
  Result<void> listen();
  void handle_signals();
  void start_plugins(const config::Config& config, const std::vector<load::TrustedKey>& keys);
  void reload();
  // Implements ApiSources::reload_plugin. [any]
  void reload_plugin(const std::string& id, std::function<void(const Result<void>&)> done);
  void stop();

  host::PluginManager::Parts plugin_parts();
  api::ApiSources api_sources();
  std::function<void(std::string& text)> koordlet_names() const;
  std::vector<api::ModuleHealth> health() const;
  api::ModuleHealth store_health() const;
  api::ModuleHealth plugin_health() const;
  api::ModuleHealth config_health() const;

  config::Config config_;
  const CommandLine line_;
  const UniqueFd store_lock_;
  std::unique_ptr<SystemClock> clock_;
  std::unique_ptr<store::Store> store_;
  service::StoreFeed feed_;
  metric::Registry registry_;
  metric::HostMetrics host_metrics_;
  state::Hub hub_;
  cgroup::Reader cgroups_;
  service::CapabilityBoard capabilities_;
  service::SharedServices shared_;

  QosModule qos_;
  host::InactivePlugins inactive_;
  host::HookStatistics hook_statistics_;
  const Services services_;  // services for the modules; refers to later members, too

  event::Loop loop_;
  std::unique_ptr<event::Timer> after_start_;
  VerdictModule verdicts_;
  EvictionModule evictions_;  // outlives the workers, which call it with answers
  event::WorkerPool workers_;
  child::SnapshotImages images_;
  child::Layers layers_;
  host::PluginManager plugins_;
  hook::Creations creations_;
  HookModule hooks_;
  HookQuestions hook_questions_;
  NriHooks nri_hooks_;
  HookAnswers hook_answers_;
  StateFeeder state_;
  PredictionModule prediction_;
  SloWatch slo_watch_;
  StrategyWatch strategy_watch_;
  VerdictWatch verdict_watch_;
  DetectionRuleWatch detection_rules_;
  BaselineCheckpoints checkpoints_;
  VolumeFacts volume_facts_;
  ReportingModule reporting_;
  const KoordletTakeover takeover_;

  mutable std::mutex mutex_;  // guards the following members
  config::FeatureGates gates_;
  std::string config_problem_;  // problem of the last reload; empty: the configuration was applied
  std::vector<std::string> gate_problems_;

  std::atomic<config::Detail> detail_;  // exporter.detail, for the thread of the metrics page
  const api::ApiSources sources_;
  api::MetricsPage page_;
  MetricsAccess metrics_access_;
  http::Server probe_server_;
  http::Server public_server_;
  http::Server local_server_;
};

}  // namespace koord::agentd
