// SPDX-License-Identifier: Apache-2.0
#include "core/host/managed_plugin.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/isolation.hpp"
#include "core/load/config_schema.hpp"
#include "core/load/grants.hpp"
#include "core/service/plugin_context.hpp"

namespace koord::host {

namespace {

// Mapping runs constructors, which take almost no time in an honest plugin.
constexpr Duration kMappingPatience = std::chrono::seconds(30);
// The deadline for calls of a class without ticks.
constexpr Duration kDeadlineWithoutPeriod = std::chrono::seconds(10);
// A starting container waits for the hook.
constexpr Duration kHookDeadline = std::chrono::milliseconds(500);
constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

}  // namespace

ManagedPlugin::ManagedPlugin(Parts parts, load::PluginFile file, unsigned nth)
    : parts_(std::move(parts)),
      file_(std::move(file)),
      nth_(nth),
      scrape_memory_(file_.origin == load::Origin::third_party ? std::make_shared<ByteBudget>(kUnlimited) : nullptr),
      state_(file_.refusal.empty() ? PluginState::disabled : PluginState::refused),
      reason_(file_.refusal),
      held_(parts_.hold_ticks),
      loading_(parts_.pool, "load " + file_.manifest.id),
      measuring_(parts_.pool, "measure " + file_.manifest.id) {}

ManagedPlugin::Supervisors ManagedPlugin::supervisors() const {
  std::lock_guard lock(mutex_);
  return supervisors_;
}

void ManagedPlugin::set_state(PluginState state, std::string reason) {
  {
    std::lock_guard lock(mutex_);
    state_ = state;
    reason_ = std::move(reason);
  }
  parts_.changed();
}

void ManagedPlugin::apply(bool enabled, const config::PluginSettings& settings, const load::ContentDemand& demand,
                          const std::vector<config::IsolationLayer>& minimum_isolation) {
  {
    std::lock_guard lock(mutex_);
    enabled_ = enabled;
    required_ = settings.required;
    must_answer_ = settings.on_timeout == config::OnTimeout::fail;
  }
  set_grants(settings);
  if (!file_.refusal.empty()) return;
  demand_ = demand;
  minimum_isolation_ = minimum_isolation;
  if (!enabled) return stop();
  supervisors().empty() ? void(settings_ = settings) : change_settings(settings);
  go_on();
}

void ManagedPlugin::go_on() {
  if (fulfilled_ != demand_) return load();
  if (Result<void> confined = check_isolation(); !confined) return refuse(confined.error().message());
  {
    std::lock_guard lock(mutex_);
    refusal_.clear();
  }
  if (supervisors().empty()) return begin();
  for (const auto& supervisor : supervisors()) supervisor->start();
}

void ManagedPlugin::change_settings(const config::PluginSettings& settings) {
  bool other_config = settings.config_json != settings_.config_json;
  config::PluginSettings old = std::exchange(settings_, settings);
  if (Result<void> fine = check_config_json(); !fine) {
    settings_.config_json = old.config_json;
    other_config = false;
    refuse_config(fine.error().message());
  } else {
    set_note({});
  }
  set_budget();
  set_rights();
  set_mode();
  for (const auto& supervisor : supervisors()) {
    supervisor->set_pace(pace_of(supervisor->instance().info()));
    supervisor->instance().set_runner_limits(runner_limits());
    if (other_config) supervisor->reconfigure(settings_.config_json);
  }
  if (settings_.capabilities != old.capabilities) warn_of_root();
}

void ManagedPlugin::refuse_config(const std::string& reason) {
  {
    std::lock_guard lock(mutex_);
    ++inherited_.refused_configs;
  }
  set_note("keeps its old configuration: " + reason);
}

void ManagedPlugin::stop() {
  bool none;
  {
    std::lock_guard lock(mutex_);
    enabled_ = false;
    refusal_.clear();
    none = supervisors_.empty();
  }
  loading_stop_.request_stop();
  for (const auto& supervisor : supervisors()) supervisor->stop();
  if (none && file_.refusal.empty() && !loading_.wedged()) set_state(PluginState::disabled);
}

Result<Loader> ManagedPlugin::loader() const {
  if (!TRY(runs_in_child(file_.manifest, file_.origin, settings_.isolation))) {
    TRY(check_in_agent(file_.origin, settings_.isolation, minimum_isolation_));
    return parts_.load;
  }
  if (!parts_.load_in_child) return invalid("expected a process of its own, this host offers none");
  return parts_.load_in_child;
}

void ManagedPlugin::load() {
  Result<Loader> loader = this->loader();
  if (!loader && mapped_.plugin == nullptr) return set_state(PluginState::refused, loader.error().message());
  if (std::exchange(loading_now_, true)) return;
  {
    std::lock_guard lock(mutex_);
    ++mappings_;
  }
  set_state(PluginState::loading);
  RunnerLimits limits = runner_limits();
  loading_stop_ = std::stop_source();
  limits.loading = loading_stop_.get_token();
  auto task = [self = shared_from_this(), demand = demand_, known = mapped_, limits = std::move(limits),
               load = std::move(loader).value_or(Loader())] {
    Result<Mapped> mapped = map(self->file_, demand, known, load, limits);
    self->parts_.loop.post([weak = std::weak_ptr(self), demand, mapped] {
      if (auto alive = weak.lock()) alive->loaded(demand, mapped);
    });
    {
      std::lock_guard lock(self->mutex_);
      --self->mappings_;
    }
    self->parts_.changed();
  };
  auto on_overrun = [weak = weak_from_this()](event::Overrun overrun) {
    auto self = weak.lock();
    if (overrun != event::Overrun::wedged || self == nullptr) return;
    self->set_state(PluginState::wedged, "its constructors did not return within " + format_duration(kMappingPatience));
  };
  loading_.post(task, {.wedged_after = kMappingPatience}, on_overrun);
}

// Checks and maps the file. If it is mapped already, only checks that it is the file that was mapped.
Result<ManagedPlugin::Mapped> ManagedPlugin::map(const load::PluginFile& file, const load::ContentDemand& demand,
                                                 const Mapped& known, const Loader& load, const RunnerLimits& limits) {
  load::CheckedFile checked = TRY(load::check_content(file.path, demand));
  if (known.plugin == nullptr) {
    Mapped mapped{TRY(load(file.path, file.manifest, checked.stamp, limits)), checked.stamp};
    TRY(load::check_unchanged(file.path, checked.stamp));
    return mapped;
  }
  if (checked.content_was_read) TRY(load::check_unchanged(file.path, known.stamp));
  return known;
}

void ManagedPlugin::loaded(const load::ContentDemand& demand, const Result<Mapped>& mapped) {
  loading_now_ = false;
  if (mapped) mapped_ = *mapped;
  bool enabled;
  {
    std::lock_guard lock(mutex_);
    enabled = enabled_;
    refusal_.clear();
    if (mapped) isolation_ = mapped->plugin->isolation();
  }
  mapped ? void(fulfilled_ = demand) : fulfilled_.reset();
  if (enabled && demand != demand_) return load();  // a different demand came meanwhile
  if (!mapped && loading_stop_.stop_requested()) return enabled ? load() : set_state(PluginState::disabled);
  if (!mapped) return refuse(mapped.error().message());
  enabled ? go_on() : set_state(PluginState::disabled);
}

void ManagedPlugin::refuse(const std::string& reason) {
  for (const auto& supervisor : supervisors()) supervisor->stop();
  {
    std::lock_guard lock(mutex_);
    if (!supervisors_.empty() && enabled_) refusal_ = reason;
  }
  set_state(PluginState::refused, reason);
}

void ManagedPlugin::begin() {
  if (Result<void> fine = check_config_json(); !fine) return set_state(PluginState::failed, fine.error().message());
  set_budget();
  set_rights();
  set_mode();
  warn_of_root();
  Supervisors made;
  for (std::size_t i = 0; i < mapped_.plugin->classes().size(); ++i) made.push_back(make_supervisor(i));
  {
    std::lock_guard lock(mutex_);
    supervisors_ = made;
  }
  for (const auto& supervisor : made) supervisor->start();
}

// Checks the running processes. A process that starts later is checked at its start.
Result<void> ManagedPlugin::check_isolation() const {
  if (file_.origin != load::Origin::third_party) return {};
  if (!mapped_.plugin->expendable()) return check_in_agent(file_.origin, settings_.isolation, minimum_isolation_);
  TRY(check_minimum_isolation(mapped_.plugin->isolation(), minimum_isolation_));
  for (const auto& supervisor : supervisors())
    if (const auto level = supervisor->instance().status().isolation)
      TRY(check_minimum_isolation(*level, minimum_isolation_));
  return {};
}

Result<void> ManagedPlugin::check_config_json() const {
  const auto check = file_.origin == load::Origin::third_party ? load::check_config_in_child : load::check_config;
  for (const load::ClassInfo& info : mapped_.plugin->classes()) TRY(check(info.config_schema, settings_.config_json));
  return {};
}

void ManagedPlugin::set_mode() { parts_.plans.set_mode(file_.manifest.id, settings_.mode); }

void ManagedPlugin::set_budget() {
  if (settings_.max_series > 0) parts_.services.metrics.set_budget(file_.manifest.id, settings_.max_series);
  if (scrape_memory_)
    scrape_memory_->set_limit(settings_.max_scrape_memory > 0 ? settings_.max_scrape_memory : kUnlimited);
}

std::shared_ptr<Supervisor> ManagedPlugin::make_supervisor(std::size_t class_index) {
  const load::ClassInfo& info = mapped_.plugin->classes()[class_index];
  std::vector<std::string> granted = load::granted_services(info.kind);
  auto rights_now = [weak = weak_from_this()] {
    const auto plugin = weak.lock();
    return plugin ? plugin->rights() : service::Rights{.host_plugin = false, .files = {}, .cgroups = {}};
  };
  auto make_context = [&services = parts_.services, id = file_.manifest.id,
                       granted = std::set<std::string>(granted.begin(), granted.end()),
                       rights_now](const std::string& config_json) {
    return std::make_unique<service::PluginContext>(services, id, granted, config_json, rights_now());
  };
  Instance::Parts instance{.plugin_id = file_.manifest.id,
                           .plugin = mapped_.plugin,
                           .class_index = class_index,
                           .make_context = std::move(make_context),
                           .pool = parts_.pool,
                           .hook_pool = parts_.hook_pool,
                           .clock = parts_.services.clock,
                           .plans = parts_.plans,
                           .evictions = parts_.evictions,
                           .rights = rights_now,
                           .scrape_memory = scrape_memory_,
                           .on_change = {}};
  Supervisor::Parts supervisor{.loop = parts_.loop,
                               .clock = parts_.services.clock,
                               .restart_delay = parts_.restart_delay,
                               .nth = nth_ + static_cast<unsigned>(class_index),
                               .changed = parts_.changed};
  auto made = Supervisor::make(std::move(supervisor), std::move(instance), settings_.config_json, pace_of(info));
  made->instance().set_runner_limits(runner_limits());
  if (held_) made->hold_ticks();
  return made;
}

service::Rights ManagedPlugin::rights() const {
  std::lock_guard lock(mutex_);
  return rights_;
}

void ManagedPlugin::set_rights() {
  std::lock_guard lock(mutex_);
  rights_ = {.host_plugin = file_.origin == load::Origin::host,
             .files = settings_.files,
             .cgroups = settings_.cgroups,
             .network = settings_.network,
             .sockets = settings_.write_paths};
}

RunnerLimits ManagedPlugin::runner_limits() const {
  return {.memory_bytes = settings_.max_memory,
          .cpu_millis = settings_.max_cpu_millis,
          .processes = settings_.max_processes,
          .state_bytes = settings_.max_state,
          .capabilities = settings_.capabilities,
          .network = settings_.network,
          .readable = settings_.read_paths,
          .writable = settings_.write_paths,
          .hook_fields = settings_.hook_fields,
          .third_party = file_.origin == load::Origin::third_party,
          .minimum_isolation = minimum_isolation_};
}

Supervisor::Pace ManagedPlugin::pace_of(const load::ClassInfo& info) const {
  Duration period = settings_.period.value_or(info.period);
  if (!(info.ticks || info.is_scraped_for()) || period <= Duration::zero()) {
    bool is_hook = info.kind == "koord.runtime-hook/1";
    return {.period = {}, .deadline = settings_.deadline.value_or(is_hook ? kHookDeadline : kDeadlineWithoutPeriod)};
  }
  return {.period = period, .deadline = std::min(period, settings_.deadline.value_or(period))};
}

// A class that this node does not support does not prevent other classes from running.
ManagedPlugin::Start ManagedPlugin::how_it_starts(std::string& reason) const {
  const PluginStatus now = status();
  reason = now.reason.empty() ? std::string(to_string(now.state)) : now.reason;
  auto is = [](PluginState state) { return [state](const InstanceStatus& one) { return one.state == state; }; };
  const auto& all = now.instances;
  if (std::any_of(all.begin(), all.end(), is(PluginState::running)) &&
      std::all_of(all.begin(), all.end(), [&](const InstanceStatus& one) {
        return one.state == PluginState::running || one.state == PluginState::absent;
      }))
    return Start::runs;
  switch (now.state) {
    case PluginState::refused:
    case PluginState::disabled:
    case PluginState::failed:
    case PluginState::absent:
    case PluginState::wedged:
    case PluginState::parked:
      return Start::failed;
    default:
      return Start::pending;
  }
}

void ManagedPlugin::release_ticks() {
  held_ = false;
  for (const auto& supervisor : supervisors()) supervisor->release_ticks();
}

}  // namespace koord::host
