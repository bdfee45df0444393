// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/agent.hpp"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>

#include "core/agentd/export_detail.hpp"
#include "core/agentd/gates.hpp"
#include "core/agentd/host_time.hpp"
#include "core/agentd/koordlet_names.hpp"
#include "core/agentd/options.hpp"
#include "core/agentd/plugin_log.hpp"
#include "core/agentd/process.hpp"
#include "core/agentd/reload.hpp"
#include "core/agentd/self_metrics.hpp"
#include "core/agentd/store_lock.hpp"
#include "core/api/operator_access.hpp"
#include "core/api/verdict_judges.hpp"
#include "core/base/parse.hpp"
#include "core/base/version.hpp"
#include "core/child/confinement.hpp"
#include "core/child/orphans.hpp"
#include "core/config/load.hpp"
#include "core/log/log.hpp"
#include "core/service/capability_probes.hpp"

namespace koord::agentd {
namespace {

using namespace std::chrono_literals;

constexpr log::Category agent_log{"agent"};

// The time from SIGTERM to the end of the agent is 5 s in total.
constexpr Duration kHttpGrace = 500ms;
constexpr Duration kPluginGrace = 4s;
// The time after which all plugins are usually loaded and have run their first tick.
constexpr Duration kStartTime = 10s;

}  // namespace

Result<std::unique_ptr<Agent>> Agent::make(config::Config config, CommandLine line) {
  log::set_up(config.log.level, config.log.format);
  UniqueFd store_lock = TRY(lock_store(config.store.path));
  // Host time continues after the newest sample of the metric cache, so that sample is read before the clock is made.
  std::optional<Time> newest = store::Store::newest_time(config.store.path);
  auto clock = clock_of_boot(config.qos.directory, knob::boot_id(config.roots), newest.value_or(Time::min()));
  std::unique_ptr<store::Store> store = TRY(store::Store::open(store_options(config.store), *clock));
  cgroup::Layout layout = TRY(cgroup::Layout::detect(config.roots));
  return std::unique_ptr<Agent>(new Agent(std::move(config), std::move(line), std::move(store_lock), std::move(clock),
                                          std::move(store), std::move(layout)));
}

Agent::Agent(config::Config config, CommandLine line, UniqueFd store_lock, std::unique_ptr<SystemClock> clock,
             std::unique_ptr<store::Store> store, cgroup::Layout layout)
    : config_(std::move(config)),
      line_(std::move(line)),
      store_lock_(std::move(store_lock)),
      clock_(std::move(clock)),
      store_(std::move(store)),
      feed_(*store_),
      registry_(config_.node_name, &feed_),
      host_metrics_(config_.node_name),
      cgroups_(layout, *clock_, reader_options(config_.cgroup)),
      shared_{*clock_, config_.roots, registry_, feed_, hub_, cgroups_, capabilities_},
      qos_(*clock_, capabilities_, cgroups_.layout(), config_),
      inactive_(hub_),
      hook_statistics_(*clock_, host_metrics_),
      services_{.loop = loop_,
                .workers = workers_,
                .clock = *clock_,
                .store = *store_,
                .hub = hub_,
                .layout = cgroups_.layout(),
                .capabilities = capabilities_,
                .events = shared_.events,
                .refusals = shared_.refusals,
                .verdicts = shared_.verdicts,
                .metrics = host_metrics_,
                .governor = qos_.governor(),
                .client = [this] { return state_.cluster() == nullptr ? nullptr : &state_.cluster()->api(); },
                .plugins = [this] { return plugins_.status(); },
                .hook_statistics = &hook_statistics_},
      verdicts_(services_),
      evictions_(services_, config_),
      workers_(config_.workers),
      layers_(layer_options(config_)),
      plugins_(plugin_parts()),
      creations_(
          config_.qos.directory.empty() ? std::string() : config_.qos.directory + "/creations", *clock_,
          [this](std::span<const knob::Adjusted> values) { return services_.governor.hold(values, kUnproposedTime); }),
      hooks_(
          services_, creations_, [this](std::uint32_t stages) { return plugins_.hooks(stages); },
          [this](kube::EventInput event) { strategy_watch_.record_event(std::move(event)); }),
      hook_questions_(services_, config_.hooks, creations_,
                      [this](std::uint32_t stages) { return plugins_.hooks(stages); }),
      nri_hooks_(services_, config_.hooks, creations_, hook_questions_,
                 [this](std::string_view key) { return state_.keeps_annotation(key); }),
      hook_answers_(
          services_, hook_questions_, [this] { return nri_hooks_.connection(); },
          [this](std::string_view key) { return state_.keeps_annotation(key); }),
      state_(services_, config_),
      prediction_(services_, config_.predict),
      slo_watch_(hub_),
      strategy_watch_(services_, config_.node_name),
      verdict_watch_(services_, [this](kube::EventInput event) { strategy_watch_.record_event(std::move(event)); }),
      detection_rules_(services_),
      checkpoints_(services_, config_.node_name,
                   [this] { return checkpoint_use(config_.plugins.of(api::kJudge).config_json); }),
      volume_facts_(hub_, *store_),
      reporting_(services_, prediction_.prediction(), config_),
      takeover_(*clock_, cgroups_.layout(), config_.roots, hub_, qos_.governor(),
                state_.pod_source() != name_of(PodSource::cgroup)),
      detail_(config_.exporter.detail),
      sources_(api_sources()),
      page_(*clock_, [this](std::string& text) { api::write_metrics(text, sources_); }),
      metrics_access_(services_, config_),
      probe_server_(loop_, workers_, api::probe_routes(sources_), probe_limits()),
      public_server_(loop_, workers_, metrics_access_.guarded(api::public_routes(sources_, page_))),
      local_server_(loop_, workers_, api::local_routes(sources_, page_)) {
  hub_.on_subject_end([this](std::uint64_t handle) { registry_.end_subject(handle); });
  qos_.governor().explain_reverts([this](std::string_view plugin) { return inactive_.why(plugin).text; });
  shared_.on_cgroup_gone = [this] { state_.request(); };
  shared_.knob_base = [this](std::string_view knob, std::string_view cgroup_dir) {
    return qos_.governor().base(knob, cgroup_dir);
  };
}

host::PluginManager::Parts Agent::plugin_parts() {
  return {.loop = loop_,
          .pool = workers_,
          .services = shared_,
          .metrics = host_metrics_,
          .plans = qos_.governor(),
          .evictions = &evictions_,
          .load_in_child = child_loader(config_.plugins.child_program, images_, cgroups_.layout(), layers_),
          .measure_state =
              [this](const std::string& id, std::uint64_t enough) {
                return layers_.state_size(id, child::Confinement::processes_of(cgroups_.layout(), id), enough);
              },
          .state_space = [this] { return layers_.state_space(); },
          .on_change =
              [this](const host::PluginStatus& plugin) {
                inactive_.learn(plugin);
                log_plugin(plugin);
              }};
}

api::ApiSources Agent::api_sources() {
  return {
      .services = shared_,
      .host_metrics = host_metrics_,
      .governor = qos_.governor(),
      .hierarchy = cgroups_.layout().hierarchy(),
      .plugins = services_.plugins,
      .features =
          [this] {
            std::lock_guard lock(mutex_);
            return gates_.list();
          },
      .health = [this] { return health(); },
      .reload_plugin = [this](const std::string& id,
                              std::function<void(const Result<void>&)> done) { reload_plugin(id, std::move(done)); },
      .exported = [this](const metric::Desc& desc) { return exported(detail_, desc); },
      .host_exported = [this](std::string_view family) { return host_exported(detail_, family); },
      .koordlet_names = config_.exporter.koordlet_names ? koordlet_names() : std::function<void(std::string&)>(),
      .prediction = prediction_.prediction(),
      .pod_source = state_.pod_source(),
      .reporting = &reporting_,
      .restore = [this](const std::string& by) { return qos_.restore(by); },
      .takeover = &takeover_,
      .minimum_isolation = [this] { return plugins_.minimum_isolation(); },
      .hooks = &hook_answers_};
}

std::function<void(std::string&)> Agent::koordlet_names() const {
  const double start = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return [this, start](std::string& text) {
    const auto reported = reporting_.node_metric();
    const auto pools = reporting_.pools();
    write_koordlet_names(text, {registry_, *hub_.current(), config_.node_name, std::floor(start), clock_->now(),
                                prediction_.prediction(), &state_.kubelet_durations(),
                                reported && reported->account.accepted ? &reported->report.status : nullptr,
                                pools ? &*pools : nullptr, evictions_.done()});
  };
}

int Agent::run() {
  if (auto started = start(); !started) {
    log::error(agent_log, "cannot start: {}", started.error().message());
    stop();
    return 1;
  }
  log::info(agent_log, "koordetector {} observes node '{}'", kVersion, config_.node_name);
  loop_.run();
  log::info(agent_log, "ending");
  stop();
  return 0;
}

Result<void> Agent::start() {
  std::string_view report = store_->open_report();
  while (auto line = next_field(report, '\n')) log::warn(agent_log, "metric cache: {}", *line);
  if (std::size_t orphans = child::end_orphans(cgroups_.layout()); orphans > 0)
    log::warn(agent_log, "killed {} plugin processes that a previous agent left behind", orphans);
  capabilities_.set(service::probe_capabilities(config_.roots, cgroups_.layout()));
  capabilities_.set(layers_.capabilities());
  export_process(host_metrics_);
  export_cgroup_files(host_metrics_, cgroups_);
  export_store(host_metrics_, feed_);
  export_http(host_metrics_, public_server_);
  export_capabilities(host_metrics_, capabilities_);
  export_state_age(host_metrics_, hub_, *clock_, [this](state::Part part) { return state_.confirm_period_of(part); });
  export_events(host_metrics_, shared_.events);
  export_decisions(host_metrics_, qos_.governor());
  handle_signals();
  state_.start();
  verdicts_.start();
  evictions_.start();
  prediction_.start();
  slo_watch_.start(loop_);
  strategy_watch_.start();
  verdict_watch_.start();
  detection_rules_.start(state_.in_cluster());
  checkpoints_.start();
  volume_facts_.start(loop_);
  reporting_.start();
  qos_.start(loop_, workers_);
  hooks_.start();
  nri_hooks_.start();
  after_start_ = loop_.after(kStartTime, release_startup_memory);
  start_plugins(config_, TRY(load::read_trusted_keys(config_.plugins.trusted_keys)));
  return listen();
}

Result<void> Agent::listen() {
  if (!config_.listen.metrics.empty()) {
    const std::uint16_t port = TRY(metrics_access_.listen(public_server_));
    log::info(agent_log, "metrics on {}{}, port {}", config_.listen.metrics,
              metrics_access_.has_tls() ? " with TLS" : "", port);
  }
  if (!config_.listen.probes.empty()) {
    const std::uint16_t port = TRY(probe_server_.listen_tcp(config_.listen.probes));
    log::info(agent_log, "probes on {}, port {}", config_.listen.probes, port);
  }
  if (!config_.listen.socket.empty()) {
    const api::OperatorAccess access(TRY(api::find_group(config_.listen.socket_group)),
                                     {static_cast<uid_t>(config_.plugins.first_uid), config_.plugins.uids});
    TRY(local_server_.listen_unix(config_.listen.socket, access.unix_access()));
    log::info(agent_log, "data API on {}", config_.listen.socket);
  }
  return {};
}

void Agent::handle_signals() {
  for (int signal : {SIGTERM, SIGINT}) {
    if (auto handled = loop_.on_signal(signal, [this] { loop_.stop(); }); !handled)
      log::warn(agent_log, "{}, ignoring", handled.error().message());
  }
  if (auto handled = loop_.on_signal(SIGHUP, [this] { reload(); }); !handled)
    log::warn(agent_log, "{}, ignoring", handled.error().message());
}

void Agent::start_plugins(const config::Config& config, const std::vector<load::TrustedKey>& keys) {
  config::FeatureGates gates;
  plugins_.discover(config.plugins, gates);
  std::vector<std::string> problems = apply_gates(config.feature_gates, line_.feature_gates, gates);
  for (const std::string& problem : plugins_.problems()) log::warn(agent_log, "{}, ignoring", problem);
  for (const std::string& problem : problems) log::warn(agent_log, "{}, ignoring", problem);
  for (const std::string& line : plugins_.unknown_settings()) log::warn(agent_log, "{}", line);
  {
    std::lock_guard lock(mutex_);
    gates_ = gates;
    gate_problems_ = std::move(problems);
  }
  plugins_.apply(config.plugins, gates, keys);
  state_.keep_annotations(plugins_.annotations());
}

void Agent::reload() {
  Result<config::Config> fresh = config::load(line_.config_path, line_.overrides);
  Result<std::vector<load::TrustedKey>> keys =
      fresh ? load::read_trusted_keys(fresh->plugins.trusted_keys) : fresh.error();
  {
    std::lock_guard lock(mutex_);
    config_problem_ = keys ? std::string() : keys.error().message();
  }
  if (!keys) {
    log::error(agent_log, "{}; keeping the last good configuration", keys.error().message());
    return;
  }
  std::vector<std::string> late = keys_needing_restart(config_, *fresh);
  if (!late.empty()) log::warn(agent_log, "{}: a change takes effect after a restart only", join(late, ", "));
  keep_until_restart(config_, *fresh);
  log::set_up(fresh->log.level, fresh->log.format);
  qos_.apply(*fresh);
  start_plugins(*fresh, *keys);
  cgroups_.set_costly_period(fresh->cgroup.memory_stat_period);
  detail_ = fresh->exporter.detail;
  config_.log = fresh->log;
  config_.exporter.detail = fresh->exporter.detail;
  config_.cgroup.memory_stat_period = fresh->cgroup.memory_stat_period;
  config_.feature_gates = fresh->feature_gates;
  config_.plugins = fresh->plugins;
  config_.qos.mode = fresh->qos.mode;
  log::info(agent_log, "configuration read again");
}

void Agent::reload_plugin(const std::string& id, std::function<void(const Result<void>&)> done) {
  loop_.post([this, id, done = std::move(done)] {
    auto finish = [id, done](const Result<void>& replaced) {
      if (replaced)
        log::info(plugin_log, "{} was reloaded", id);
      else
        log::warn(plugin_log, "{} was not reloaded: {}", id, replaced.error().message());
      done(replaced);
    };
    Result<std::vector<load::TrustedKey>> keys = load::read_trusted_keys(config_.plugins.trusted_keys);
    if (!keys) return finish(keys.error());
    config::FeatureGates gates;
    plugins_.rediscover(config_.plugins, gates);
    // Errors about gates of other plugins were reported when these gates were applied.
    apply_gates(config_.feature_gates, line_.feature_gates, gates);
    plugins_.replace(id, config_.plugins, gates, *keys, finish);
    std::lock_guard lock(mutex_);
    gates_ = std::move(gates);
  });
}

void Agent::stop() {
  nri_hooks_.stop();  // so no new container is adjusted
  hook_questions_.stop();
  creations_.update(*hub_.current());  // reads the values that new containers had before the hooks
  qos_.stop();                         // reverts knobs first, before any other module can prevent it
  hooks_.stop();
  metrics_access_.stop();
  verdicts_.stop();
  evictions_.stop();
  reporting_.stop();
  checkpoints_.stop();  // this module and the next one use the client of state_
  detection_rules_.stop();
  state_.stop();
  prediction_.stop();
  slo_watch_.stop();
  verdict_watch_.stop();
  strategy_watch_.stop();
  volume_facts_.stop();
  bool plugins_ended = plugins_.stop(kPluginGrace);
  local_server_.stop(kHttpGrace, [this] {
    public_server_.stop(kHttpGrace, [this] { probe_server_.stop(kHttpGrace, [this] { loop_.stop(); }); });
  });
  loop_.run();
  if (plugins_ended) return;
  // A plugin's thread still uses objects that this function would destroy. So the agent saves the history and exits.
  log::warn(agent_log, "a plugin did not end in time; its thread ends with the process");
  store_->flush();
  qos_.governor().flush_decisions();
  ::_exit(0);
}

std::vector<api::ModuleHealth> Agent::health() const {
  std::vector<api::ModuleHealth> health{config_health(), store_health(),      state_.health(), prediction_.health(),
                                        qos_.health(),   reporting_.health(), plugin_health()};
  if (metrics_access_.has_tls()) health.push_back(metrics_access_.health());
  return health;
}

api::ModuleHealth Agent::store_health() const {
  store::Stats stats = store_->stats();
  if (stats.mode == store::Mode::memory && !stats.reason.empty())
    return {"store", true, "degraded, in memory only: " + stats.reason};
  return {"store", true, "ok"};
}

api::ModuleHealth Agent::plugin_health() const {
  host::Readiness readiness = plugins_.ready();
  if (!readiness.ready) return {"plugins", false, join(readiness.reasons, "; ")};
  std::vector<std::string> troubled;
  for (const host::PluginStatus& plugin : plugins_.status()) {
    if (level_of(plugin.state) == log::Level::warn)
      troubled.push_back(plugin_name_of(plugin) + " is " + std::string(to_string(plugin.state)));
  }
  return {"plugins", true, troubled.empty() ? "ok" : "degraded: " + join(troubled, "; ")};
}

api::ModuleHealth Agent::config_health() const {
  std::lock_guard lock(mutex_);
  if (!config_problem_.empty())
    return {"config", true, "degraded, keeping the last good one: " + join(split(config_problem_, '\n'), "; ")};
  if (!gate_problems_.empty()) return {"config", true, "degraded: " + join(gate_problems_, "; ")};
  return {"config", true, "ok"};
}

}  // namespace koord::agentd
