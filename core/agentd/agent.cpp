// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/agent.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "core/agentd/gates.hpp"
#include "core/agentd/host_time.hpp"
#include "core/agentd/koordlet_names.hpp"
#include "core/agentd/process.hpp"
#include "core/agentd/reload.hpp"
#include "core/agentd/self_metrics.hpp"
#include "core/agentd/store_lock.hpp"
#include "core/api/operator_access.hpp"
#include "core/base/parse.hpp"
#include "core/base/version.hpp"
#include "core/child/child_runner.hpp"
#include "core/child/orphans.hpp"
#include "core/config/load.hpp"
#include "core/log/log.hpp"
#include "core/service/capability_probes.hpp"

namespace koord::agentd {
namespace {

using namespace std::chrono_literals;

constexpr log::Category agent_log{"agent"};
constexpr log::Category plugin_log{"plugin"};

// SIGTERM to end: 5 s in all.
constexpr Duration kHttpGrace = 500ms;
constexpr Duration kPluginGrace = 4s;

store::Options store_options(const config::StoreSettings& settings) {
  store::Options options;
  options.path = settings.path;
  options.retention = settings.retention;
  options.max_bytes = settings.max_bytes;
  options.journal_period = settings.journal_period;
  return options;
}

// Half of what the process may have open at most for files, and a quarter for directories: sockets, the store and
// plugins need some, too.
cgroup::Reader::Options reader_options(const config::CgroupSettings& settings) {
  const std::size_t limit = open_files_limit();
  cgroup::Reader::Options options;
  options.kept_files = std::min<std::size_t>(settings.kept_files, limit / 2);
  options.kept_directories = limit / 4;
  options.costly_period = settings.memory_stat_period;
  return options;
}

log::Level level_of(host::PluginState state) {
  using enum host::PluginState;
  switch (state) {
    case refused:
    case failed:
    case wedged:
    case parked:
      return log::Level::warn;
    case running:
    case stopped:
    case disabled:
    case absent:
      return log::Level::info;
    default:
      return log::Level::debug;  // on the way to one of the others
  }
}

// The kubelet sends few requests; other clients are closed first.
http::Limits probe_limits() {
  http::Limits limits;
  limits.connections = 32;
  limits.connections_of_peer = 8;
  limits.send_buffer_bytes = 16 << 10;
  limits.idle = std::chrono::seconds(15);
  limits.read = limits.write = std::chrono::seconds(3);
  return limits;
}

// Beside the metric cache unless the configuration names another place.
std::string plugin_state_directory(const config::Config& config) {
  if (!config.plugins.state_directory.empty() || config.store.path.empty()) return config.plugins.state_directory;
  return std::filesystem::path(config.store.path).parent_path() / "plugin-state";
}

// KOORD_LANDLOCK_ABI is for tests: the agent takes the kernel for one with this ABI.
child::Layers::Options layer_options(const config::Config& config) {
  const NodeRoots& roots = config.roots;
  child::Layers::Options options{.state_directory = plugin_state_directory(config),
                                 .first_uid = static_cast<std::uint32_t>(config.plugins.first_uid),
                                 .uids = static_cast<std::uint32_t>(config.plugins.uids),
                                 .readable = {roots.proc, roots.sys, roots.cgroup, roots.resctrl}};
  if (const char* abi = std::getenv("KOORD_LANDLOCK_ABI"))
    options.newest_landlock_abi = static_cast<unsigned>(parse_uint(abi).value_or(child::kNewestLandlockAbi));
  return options;
}

host::Loader child_loader(const std::string& configured, child::SnapshotImages& images, const cgroup::Layout& layout, child::Layers& layers) {
  return [program = child::plugin_host_program(configured), &images, &layout, &layers](const std::string& path, const host::Manifest& manifest,
                                                         const host::FileStamp& checked, const host::RunnerLimits& limits) {
    return child::load_in_child({program, images, &layout, &layers}, path, manifest, checked, limits);
  };
}

std::string plugin_name_of(const host::PluginStatus& plugin) { return plugin.id.empty() ? "'" + plugin.path + "'" : plugin.id; }

void log_plugin(const host::PluginStatus& plugin) {
  const bool has_reason = plugin.state == host::PluginState::running && !plugin.reason.empty();
  log::write(plugin_log, has_reason ? log::Level::warn : level_of(plugin.state),
             plugin_name_of(plugin) + " is " + std::string(to_string(plugin.state)) +
                 (plugin.reason.empty() ? "" : ": " + plugin.reason));
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::make(config::Config config, CommandLine line) {
  log::set_up(config.log.level, config.log.format);
  UniqueFd store_lock = TRY(lock_store(config.store.path));
  // Host time goes on where the metric cache ends, so its newest sample is read before there is a clock.
  std::optional<Time> newest = store::Store::newest_time(config.store.path);
  auto clock = clock_of_boot(config.qos.directory, knob::boot_id(config.roots), newest.value_or(Time::min()));
  std::unique_ptr<store::Store> store = TRY(store::Store::open(store_options(config.store), *clock));
  cgroup::Layout layout = TRY(cgroup::Layout::detect(config.roots));
  return std::unique_ptr<Agent>(
      new Agent(std::move(config), std::move(line), std::move(store_lock), std::move(clock), std::move(store),
                std::move(layout)));
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
      services_{*clock_, config_.roots, registry_, feed_, hub_, cgroups_, capabilities_},
      qos_(*clock_, capabilities_, layout, config_),
      inactive_(hub_),
      evictions_({loop_, workers_, *store_, hub_, *clock_, layout, capabilities_, services_.events, services_.refusals, host_metrics_,
                  qos_.governor(),
                  [this] { return state_.cluster() == nullptr ? nullptr : &state_.cluster()->api(); }},
                 config_),
      workers_(config_.workers),
      layers_(layer_options(config_)),
      plugins_({.loop = loop_,
                .pool = workers_,
                .services = services_,
                .metrics = host_metrics_,
                .plans = qos_.governor(),
                .evictions = &evictions_,
                .load_in_child = child_loader(config_.plugins.child_program, images_, cgroups_.layout(), layers_),
                .on_change =
                    [this](const host::PluginStatus& plugin) {
                      inactive_.learn(plugin);
                      log_plugin(plugin);
                    }}),
      state_({loop_, workers_, *clock_, hub_, layout, capabilities_, host_metrics_}, config_),
      prediction_({loop_, workers_, *store_, hub_, *clock_}, config_.predict),
      slo_watch_(hub_),
      strategy_watch_({loop_, *clock_, hub_, qos_.governor(), services_.events, config_.node_name,
                       [this] { return state_.cluster() == nullptr ? nullptr : &state_.cluster()->api(); },
                       [this] {
                         std::vector<std::string> ids;
                         for (const host::PluginStatus& plugin : plugins_.status()) ids.push_back(plugin.id);
                         return ids;
                       }}),
      volume_facts_(hub_, *store_),
      reporting_({loop_, workers_, *store_, hub_, *clock_, host_metrics_, prediction_.prediction(),
                  [this] { return state_.cluster() == nullptr ? nullptr : &state_.cluster()->api(); },
                  [this](const std::string& plugin) { return is_running(plugin); }},
                 config_),
      takeover_(*clock_, cgroups_.layout(), config_.roots, hub_, qos_.governor(), state_.pod_source() != name_of(PodSource::cgroup)),
      sources_{services_,
               host_metrics_,
               qos_.governor(),
               layout.hierarchy(),
               [this] { return plugins_.status(); },
               [this] {
                 std::lock_guard lock(mutex_);
                 return gates_.list();
               },
               [this] { return health(); },
               [this](const std::string& id, std::function<void(const Result<void>&)> done) {
                 reload_plugin(id, std::move(done));
               },
               config_.exporter.koordlet_names ? koordlet_names() : std::function<void(std::string&)>(),
               prediction_.prediction(),
               state_.pod_source(),
               &reporting_,
               [this](const std::string& by) { return qos_.restore(by); },
               &takeover_,
               [this] { return plugins_.minimum_isolation(); }},
      page_(*clock_, [this](std::string& text) { write_metrics(text, sources_); }),
      probe_server_(loop_, workers_, probe_routes(sources_), probe_limits()),
      public_server_(loop_, workers_, public_routes(sources_, page_)),
      local_server_(loop_, workers_, local_routes(sources_, page_)) {
  hub_.on_subject_end([this](std::uint64_t handle) { registry_.end_subject(handle); });
  qos_.governor().explain_reverts([this](std::string_view plugin) { return inactive_.why(plugin).text; });
  services_.on_cgroup_gone = [this] { state_.request(); };
  services_.knob_base = [this](std::string_view knob, std::string_view cgroup_dir) { return qos_.governor().base(knob, cgroup_dir); };
}

std::function<void(std::string&)> Agent::koordlet_names() const {
  const double start = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return [this, start](std::string& text) {
    const auto reported = reporting_.node_metric();
    const auto pools = reporting_.pools();
    write_koordlet_names(text, {registry_, *hub_.current(), config_.node_name, std::floor(start), clock_->now(), prediction_.prediction(),
                                &state_.kubelet_durations(), reported && reported->account.accepted ? &reported->report.status : nullptr,
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
  capabilities_.set(host::probe_capabilities(config_.roots, cgroups_.layout()));
  capabilities_.set(layers_.capabilities());
  export_process(host_metrics_);
  export_cgroup_files(host_metrics_, cgroups_);
  export_store(host_metrics_, feed_);
  export_http(host_metrics_, public_server_);
  export_capabilities(host_metrics_, capabilities_);
  export_state_age(host_metrics_, hub_, *clock_);
  export_events(host_metrics_, services_.events);
  export_decisions(host_metrics_, qos_.governor());
  handle_signals();
  state_.start();
  evictions_.start();
  prediction_.start();
  slo_watch_.start(loop_);
  strategy_watch_.start();
  volume_facts_.start(loop_);
  reporting_.start();
  qos_.start(loop_, workers_);
  start_plugins(config_, TRY(host::read_trusted_keys(config_.plugins.trusted_keys)));
  return listen();
}

Result<void> Agent::listen() {
  if (!config_.listen.metrics.empty()) {
    std::uint16_t port = TRY(public_server_.listen_tcp(config_.listen.metrics));
    log::info(agent_log, "metrics on {}, port {}", config_.listen.metrics, port);
  }
  if (!config_.listen.probes.empty()) {
    const std::uint16_t port = TRY(probe_server_.listen_tcp(config_.listen.probes));
    log::info(agent_log, "probes on {}, port {}", config_.listen.probes, port);
  }
  if (!config_.listen.socket.empty()) {
    const OperatorAccess access(TRY(find_group(config_.listen.socket_group)),
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

void Agent::start_plugins(const config::Config& config, const std::vector<host::TrustedKey>& keys) {
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
  Result<std::vector<host::TrustedKey>> keys =
      fresh ? host::read_trusted_keys(fresh->plugins.trusted_keys) : fresh.error();
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
  config_.log = fresh->log;
  config_.cgroup.memory_stat_period = fresh->cgroup.memory_stat_period;
  config_.feature_gates = fresh->feature_gates;
  config_.plugins = fresh->plugins;
  config_.qos.mode = fresh->qos.mode;
  log::info(agent_log, "configuration read again");
}

void Agent::reload_plugin(const std::string& id, std::function<void(const Result<void>&)> done) {
  loop_.post([this, id, done = std::move(done)] {
    auto tell = [id, done](const Result<void>& replaced) {
      if (replaced)
        log::info(plugin_log, "{} was reloaded", id);
      else
        log::warn(plugin_log, "{} was not reloaded: {}", id, replaced.error().message());
      done(replaced);
    };
    Result<std::vector<host::TrustedKey>> keys = host::read_trusted_keys(config_.plugins.trusted_keys);
    if (!keys) return tell(keys.error());
    config::FeatureGates gates;
    plugins_.rediscover(config_.plugins, gates);
    // Problems with the gates of other plugins were reported when they were applied.
    apply_gates(config_.feature_gates, line_.feature_gates, gates);
    plugins_.replace(id, config_.plugins, gates, *keys, tell);
    std::lock_guard lock(mutex_);
    gates_ = std::move(gates);
  });
}

void Agent::stop() {
  qos_.stop();  // knobs go back first: nothing else may keep them from it
  evictions_.stop();
  reporting_.stop();
  state_.stop();
  prediction_.stop();
  slo_watch_.stop();
  strategy_watch_.stop();
  volume_facts_.stop();
  bool plugins_ended = plugins_.stop(kPluginGrace);
  local_server_.stop(kHttpGrace, [this] {
    public_server_.stop(kHttpGrace, [this] { probe_server_.stop(kHttpGrace, [this] { loop_.stop(); }); });
  });
  loop_.run();
  if (plugins_ended) return;
  // A thread of a plugin is still at work in what we would destroy: save the history and leave.
  log::warn(agent_log, "a plugin did not end in time; its thread ends with the process");
  store_->flush();
  qos_.governor().flush_decisions();
  ::_exit(0);
}

std::vector<ModuleHealth> Agent::health() const {
  return {config_health(), store_health(), state_.health(), prediction_.health(), qos_.health(), reporting_.health(), plugin_health()};
}

bool Agent::is_running(const std::string& plugin) const {
  const std::vector<host::PluginStatus> plugins = plugins_.status();
  return std::any_of(plugins.begin(), plugins.end(), [&plugin](const host::PluginStatus& status) {
    return status.id == plugin && status.state == host::PluginState::running;
  });
}

ModuleHealth Agent::store_health() const {
  store::Stats stats = store_->stats();
  if (stats.mode == store::Mode::memory && !stats.reason.empty())
    return {"store", true, "degraded, in memory only: " + stats.reason};
  return {"store", true, "ok"};
}

ModuleHealth Agent::plugin_health() const {
  host::Readiness readiness = plugins_.ready();
  if (!readiness.ready) return {"plugins", false, join(readiness.reasons, "; ")};
  std::vector<std::string> troubled;
  for (const host::PluginStatus& plugin : plugins_.status()) {
    if (level_of(plugin.state) == log::Level::warn)
      troubled.push_back(plugin_name_of(plugin) + " is " + std::string(to_string(plugin.state)));
  }
  return {"plugins", true, troubled.empty() ? "ok" : "degraded: " + join(troubled, "; ")};
}

ModuleHealth Agent::config_health() const {
  std::lock_guard lock(mutex_);
  if (!config_problem_.empty())
    return {"config", true, "degraded, keeping the last good one: " + join(split(config_problem_, '\n'), "; ")};
  if (!gate_problems_.empty()) return {"config", true, "degraded: " + join(gate_problems_, "; ")};
  return {"config", true, "ok"};
}

}  // namespace koord::agentd
