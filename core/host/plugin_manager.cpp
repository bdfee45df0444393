// SPDX-License-Identifier: Apache-2.0
#include "core/host/plugin_manager.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "core/base/parse.hpp"
#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"
#include "core/host/agent_budget.hpp"
#include "core/host/managed_plugin.hpp"
#include "core/host/module.hpp"
#include "core/host/plugin_gates.hpp"
#include "core/host/plugin_metrics.hpp"
#include "core/host/process_use.hpp"
#include "core/host/replacement.hpp"
#include "core/host/shared_services.hpp"
#include "core/log/log.hpp"

namespace koord::host {
namespace {

constexpr log::Category manager_log{"plugin"};

std::string format_cores(double cores) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", cores);
  return text;
}

// Files whose manifest, and so whose id, could not be read: one of them may be the one that is meant.
std::string unread_files(const std::vector<PluginFile>& files) {
  std::string text;
  for (const PluginFile& file : files)
    if (!file.refusal.empty() && file.manifest.version.empty()) text += "; a refused file may have it: " + file.refusal;
  return text;
}

}  // namespace

// So many hooks may hang before another one waits for them.
constexpr std::size_t kHookThreads = 4;

using Plugins = std::vector<std::shared_ptr<ManagedPlugin>>;

struct PluginManager::State : std::enable_shared_from_this<State> {
  explicit State(Parts p) : parts(std::move(p)), metrics(parts.metrics) {
    if (!parts.load) parts.load = Module::load;
  }

  void subscribe();
  void changed();
  void report();
  std::shared_ptr<ManagedPlugin> make(PluginFile file, unsigned nth, bool hold_ticks);
  void add_gate(PluginFile& file, config::FeatureGates& gates) const;
  void take(PluginFile file, config::FeatureGates& gates);
  void advance_replacements();
  void put_in_place(const Replacement& replacement);
  void retire(std::shared_ptr<ManagedPlugin> plugin);
  void drop_missing(const Catalogue& catalogue);
  Plugins all() const;
  Plugins all_with_coming() const;
  std::vector<PluginStatus> status() const;
  void look_at_budgets();
  void look_at_agent_budget(const Plugins& running);

  Parts parts;
  PluginMetrics metrics;
  std::unique_ptr<event::WorkerPool> hook_pool;  // once there is a hook
  std::uint64_t hub_subscription = 0;
  unsigned next_nth = 0;
  std::unique_ptr<event::Timer> budget_timer;
  AgentBudget agent_budget;
  metric::HostGauge cpu_cores = parts.metrics.gauge("host_cpu_cores", "Cores that the agent and its plugins used lately.");
  metric::HostGauge cpu_budget_cores =
      parts.metrics.gauge("host_cpu_budget_cores", "Cores that the agent and its plugins may use; 0: no limit.");
  metric::HostGauge advisor_slowdown =
      parts.metrics.gauge("host_advisor_slowdown", "How many times their periods advisors tick at, for the agent's sake; 1 when all is well.");
  std::uint64_t cpu_budget_millis = 0;
  Catalogue seen_last;                      // by look_again()
  std::vector<std::unique_ptr<Replacement>> replacements;
  Plugins retired;  // their files are gone or were replaced; ending
  std::map<std::string, std::string> told;  // by path: state and reason last given to on_change
  std::atomic<bool> report_posted = false;

  std::mutex ended_mutex;
  std::condition_variable ended;

  mutable std::mutex mutex;  // of what follows
  Plugins plugins;
  std::vector<std::string> problems;
  std::vector<std::string> required;
  Plugins coming_up;  // beside one of `plugins`
};

void PluginManager::State::subscribe() {
  auto on_change = [weak = weak_from_this()](std::uint32_t parts_changed,
                                             const state::SnapshotPtr& snapshot) {
    auto self = weak.lock();
    if (self == nullptr) return;
    for (const auto& plugin : self->all_with_coming()) plugin->notify(parts_changed, snapshot->versions);
  };
  hub_subscription = parts.services.hub.subscribe(on_change);
  parts.metrics.on_collect([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->metrics.update(self->status());
  });
}

Plugins PluginManager::State::all() const {
  std::lock_guard lock(mutex);
  return plugins;
}

Plugins PluginManager::State::all_with_coming() const {
  std::lock_guard lock(mutex);
  Plugins both = plugins;
  both.insert(both.end(), coming_up.begin(), coming_up.end());
  return both;
}

std::vector<PluginStatus> PluginManager::State::status() const {
  std::vector<PluginStatus> list;
  for (const auto& plugin : all()) list.push_back(plugin->status());
  return list;
}

// [any]
void PluginManager::State::changed() {
  { std::lock_guard lock(ended_mutex); }
  ended.notify_all();
  if (report_posted.exchange(true)) return;
  parts.loop.post([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->report();
  });
}

void PluginManager::State::report() {
  report_posted = false;
  advance_replacements();
  std::erase_if(retired, [](const auto& plugin) { return plugin->is_gone(); });
  if (!parts.on_change) return;
  for (const PluginStatus& plugin : status()) {
    std::string now = std::string(to_string(plugin.state)) + ": " + plugin.reason;
    if (std::exchange(told[plugin.path], now) != now) parts.on_change(plugin);
  }
}

std::shared_ptr<ManagedPlugin> PluginManager::State::make(PluginFile file, unsigned nth, bool hold_ticks) {
  const auto& kinds = file.manifest.kinds;
  bool has_hooks = std::find(kinds.begin(), kinds.end(), "koord.runtime-hook/1") != kinds.end();
  if (has_hooks && !hook_pool) hook_pool = std::make_unique<event::WorkerPool>(kHookThreads);
  ManagedPlugin::Parts of{.loop = parts.loop,
                          .pool = parts.pool,
                          .hook_pool = hook_pool.get(),
                          .services = parts.services,
                          .plans = parts.plans,
                          .evictions = parts.evictions,
                          .load = parts.load,
                          .load_in_child = parts.load_in_child,
                          .restart_delay = parts.restart_delay,
                          .changed =
                              [weak = weak_from_this()] {
                                if (auto self = weak.lock()) self->changed();
                              },
                          .hold_ticks = hold_ticks};
  return std::make_shared<ManagedPlugin>(std::move(of), std::move(file), nth);
}

void PluginManager::State::add_gate(PluginFile& file, config::FeatureGates& gates) const {
  if (!file.refusal.empty()) return;
  for (config::GateSpec& gate : file.manifest.gate_specs(file.origin))
    if (Result<void> added = gates.add(std::move(gate)); !added) file.refusal = added.error().message();
}

// A file that is known stays as it is: only replace() puts another in its place. One that was refused is looked
// at again.
void PluginManager::State::take(PluginFile file, config::FeatureGates& gates) {
  add_gate(file, gates);
  std::lock_guard lock(mutex);
  auto known = std::find_if(plugins.begin(), plugins.end(),
                            [&](const auto& p) { return p->file().path == file.path; });
  if (known != plugins.end() && (*known)->file().refusal.empty()) return;
  std::shared_ptr<ManagedPlugin> plugin = make(std::move(file), next_nth++, false);
  known == plugins.end() ? plugins.push_back(std::move(plugin)) : void(*known = std::move(plugin));
}

void PluginManager::State::retire(std::shared_ptr<ManagedPlugin> plugin) {
  plugin->stop();
  retired.push_back(std::move(plugin));
}

void PluginManager::State::put_in_place(const Replacement& replacement) {
  std::lock_guard lock(mutex);
  std::erase(coming_up, replacement.fresh());
  auto place = std::find(plugins.begin(), plugins.end(), replacement.old());
  place == plugins.end() ? plugins.push_back(replacement.fresh()) : void(*place = replacement.fresh());
}

void PluginManager::State::advance_replacements() {
  for (std::size_t i = 0; i < replacements.size(); ++i) {
    Replacement& replacement = *replacements[i];
    if (replacement.advance()) {
      put_in_place(replacement);
      retire(replacement.old());
    }
  }
  std::erase_if(replacements, [this](const std::unique_ptr<Replacement>& replacement) {
    if (!replacement->over()) return false;
    std::unique_lock lock(mutex);
    if (std::erase(coming_up, replacement->fresh()) > 0) {
      lock.unlock();
      retire(replacement->fresh());
    }
    return true;
  });
}

void PluginManager::State::drop_missing(const Catalogue& catalogue) {
  Plugins missing;
  {
    std::lock_guard lock(mutex);
    auto is_there = [&](const std::shared_ptr<ManagedPlugin>& plugin) {
      auto same = [&](const PluginFile& file) { return file.path == plugin->file().path; };
      return std::any_of(catalogue.files.begin(), catalogue.files.end(), same);
    };
    auto gone = std::stable_partition(plugins.begin(), plugins.end(), is_there);
    missing.assign(gone, plugins.end());
    plugins.erase(gone, plugins.end());
  }
  for (auto& plugin : missing) retire(std::move(plugin));
}

void PluginManager::State::look_at_budgets() {
  const Plugins running = all();
  for (const auto& plugin : running) plugin->look_at_budget();
  look_at_agent_budget(running);
}

void PluginManager::State::look_at_agent_budget(const Plugins& running) {
  std::set<int> processes = {::getpid()};
  for (const PluginStatus& plugin : status())
    for (const InstanceStatus& instance : plugin.instances)
      if (instance.process > 0) processes.insert(instance.process);
  Duration cpu{};
  for (int process : processes)
    if (Result<ProcessUse> use = use_of_process(process)) cpu += use->cpu;  // it may have ended meanwhile
  const Time time{std::chrono::steady_clock::now().time_since_epoch()};  // CPU is used in real time
  const bool changed = agent_budget.look(time, cpu, cpu_budget_millis);
  cpu_cores.set(agent_budget.cores().value_or(0));
  cpu_budget_cores.set(static_cast<double>(cpu_budget_millis) / 1000);
  advisor_slowdown.set(agent_budget.slowdown());
  // Also those that have begun since.
  for (const auto& plugin : running) plugin->set_agent_slowdown(agent_budget.slowdown());
  if (!changed) return;
  const std::string now = "advisors tick at " + std::to_string(agent_budget.slowdown()) + " times their periods";
  const std::string why = "the agent uses " + format_cores(agent_budget.cores().value_or(0)) + " of the " +
                          format_cores(static_cast<double>(cpu_budget_millis) / 1000) + " cores of plugins.cpuBudget";
  log::info(manager_log, "{}: {}", now, why);
  parts.services.events.add({.time = parts.services.clock.now(), .what = now, .why = why});
}

PluginManager::PluginManager(Parts parts) : state_(std::make_shared<State>(std::move(parts))) {
  state_->subscribe();
}

PluginManager::~PluginManager() {
  stop();
  state_->parts.services.hub.remove(state_->hub_subscription);
}

void PluginManager::discover(const config::PluginsSettings& settings, config::FeatureGates& gates) {
  Catalogue catalogue = read_catalogue(settings);
  state_->drop_missing(catalogue);
  for (PluginFile& file : catalogue.files) state_->take(std::move(file), gates);
  {
    std::lock_guard lock(state_->mutex);
    state_->problems = std::move(catalogue.problems);
  }
  state_->changed();
}

void PluginManager::look_again(const config::PluginsSettings& settings, config::FeatureGates& gates) {
  state_->seen_last = read_catalogue(settings);
  for (PluginFile& file : state_->seen_last.files) state_->add_gate(file, gates);
}

void PluginManager::replace(const std::string& id, const config::PluginsSettings& settings,
                            const config::FeatureGates& gates, const std::vector<TrustedKey>& keys, Done done) {
  Plugins known = state_->all();
  auto old = std::find_if(known.begin(), known.end(), [&](const auto& p) { return p->file().manifest.id == id; });
  auto refuse_it = [&](const std::string& why) {
    if (old != known.end()) (*old)->count_refused_reload();
    done(invalid(why));
  };
  for (const auto& replacement : state_->replacements)
    if (!replacement->over() && replacement->fresh()->file().manifest.id == id) return done(invalid("is being reloaded already"));
  const PluginFile* file = nullptr;
  for (const PluginFile& found : state_->seen_last.files)
    if (found.manifest.id == id && (file == nullptr || !file->refusal.empty())) file = &found;
  if (file == nullptr) return refuse_it("no plugin directory has a plugin of this id" + unread_files(state_->seen_last.files));
  if (!file->refusal.empty()) return refuse_it(file->refusal);
  if (!any_gate_is_on(file->manifest, gates)) return refuse_it(why_off(file->manifest));

  std::shared_ptr<ManagedPlugin> before = old == known.end() ? nullptr : *old;
  auto fresh = state_->make(*file, before ? before->nth() : state_->next_nth++, true);
  auto replacement =
      std::make_unique<Replacement>(state_->parts.loop, state_->parts.services.metrics, before, fresh, std::move(done));
  if (replacement->beside()) {
    std::lock_guard lock(state_->mutex);
    state_->coming_up.push_back(fresh);
  } else {
    if (before) fresh->inherit(before->status());
    state_->put_in_place(*replacement);
    if (before) state_->retire(before);
  }
  state_->replacements.push_back(std::move(replacement));
  const config::PluginSettings of = settings_with_gates(file->manifest, gates, settings.of(id));
  fresh->apply(true, of, {settings.trust, of.sha256, keys});
  state_->changed();
}

void PluginManager::apply(const config::PluginsSettings& settings, const config::FeatureGates& gates,
                          const std::vector<TrustedKey>& keys) {
  state_->cpu_budget_millis = settings.cpu_budget_millis;
  if (!state_->budget_timer)
    state_->budget_timer = state_->parts.loop.every(state_->parts.budget_period, [state = state_.get()] { state->look_at_budgets(); });
  {
    std::lock_guard lock(state_->mutex);
    state_->required.clear();
    for (const auto& [id, of] : settings.settings) {
      if (of.required) state_->required.push_back(id);
    }
  }
  for (const auto& plugin : state_->all_with_coming()) {
    const Manifest& manifest = plugin->file().manifest;
    const config::PluginSettings of = settings_with_gates(manifest, gates, settings.of(manifest.id));
    plugin->apply(any_gate_is_on(manifest, gates), of, {settings.trust, of.sha256, keys});
  }
}

bool PluginManager::stop(Duration grace) {
  state_->budget_timer.reset();
  for (const auto& replacement : std::exchange(state_->replacements, {})) replacement->give_up("the agent ends");
  Plugins plugins = state_->all_with_coming();
  plugins.insert(plugins.end(), state_->retired.begin(), state_->retired.end());
  for (const auto& plugin : plugins) plugin->stop();
  auto all_ended = [&] {
    return std::all_of(plugins.begin(), plugins.end(), [](auto& p) { return p->ended(); });
  };
  {
    std::unique_lock lock(state_->ended_mutex);
    state_->ended.wait_until(lock, std::chrono::steady_clock::now() + grace, all_ended);
  }
  bool clean = true;
  for (const auto& plugin : plugins) {
    clean &= plugin->write_off_rest("has not returned within " + format_duration(grace) + " of the stop");
  }
  return clean;
}

std::vector<PluginStatus> PluginManager::status() const {
  return state_->status();
}

std::vector<std::string> PluginManager::annotations() const {
  std::vector<std::string> keys;
  for (const auto& plugin : state_->all_with_coming()) {
    const std::vector<std::string>& read = plugin->file().manifest.annotations;
    keys.insert(keys.end(), read.begin(), read.end());
  }
  return keys;
}

std::vector<HookTarget> PluginManager::hooks(std::uint32_t stage) const {
  std::vector<HookTarget> hooks;
  for (const auto& plugin : state_->all()) {
    std::vector<HookTarget> of = plugin->hooks(stage);
    std::move(of.begin(), of.end(), std::back_inserter(hooks));
  }
  std::sort(hooks.begin(), hooks.end(),
            [](const HookTarget& a, const HookTarget& b) { return std::tie(a.plugin, a.name) < std::tie(b.plugin, b.name); });
  return hooks;
}

Readiness PluginManager::ready() const {
  std::vector<std::string> required = [&] {
    std::lock_guard lock(state_->mutex);
    return state_->required;
  }();
  Readiness readiness;
  std::vector<PluginStatus> plugins = status();
  for (const std::string& id : required) {
    auto found =
        std::find_if(plugins.begin(), plugins.end(), [&](const PluginStatus& p) { return p.id == id; });
    if (found == plugins.end()) {
      readiness.reasons.push_back(id + " is required, no plugin directory has it");
    } else if (found->state != PluginState::running) {
      readiness.reasons.push_back(id + " is " + std::string(to_string(found->state)) +
                                  (found->reason.empty() ? "" : ": " + found->reason));
    }
  }
  readiness.ready = readiness.reasons.empty();
  return readiness;
}

std::vector<std::string> PluginManager::problems() const {
  std::lock_guard lock(state_->mutex);
  return state_->problems;
}

}  // namespace koord::host
