// SPDX-License-Identifier: Apache-2.0
#include "core/host/plugin_manager_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

#include "core/host/plugin_gates.hpp"
#include "core/host/process_use.hpp"
#include "core/log/log.hpp"

namespace koord::host {
namespace {

constexpr log::Category manager_log{"plugin"};

std::string format_cores(double cores) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", cores);
  return text;
}

// The number of hooks that may hang before a further hook has to wait.
constexpr std::size_t kHookThreads = 4;

// The delay between a change of the standing verdicts and the event.
constexpr Duration kVerdictEventDelay = std::chrono::milliseconds(100);

}  // namespace

void PluginManager::State::subscribe() {
  auto on_change = [weak = weak_from_this()](std::uint32_t parts_changed, const state::SnapshotPtr& snapshot) {
    auto self = weak.lock();
    if (self == nullptr) return;
    for (const auto& plugin : self->all_with_coming()) plugin->notify(parts_changed, snapshot->versions);
  };
  hub_subscription = parts.services.hub.subscribe(on_change);
  verdict_subscription = parts.services.verdicts.subscribe([weak = weak_from_this()](std::uint64_t) {
    if (auto self = weak.lock()) self->verdicts_changed();
  });
  parts.metrics.on_collect([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->metrics.update(self->status());
  });
}

void PluginManager::State::unsubscribe() {
  parts.services.hub.remove(hub_subscription);
  parts.services.verdicts.remove(verdict_subscription);
}

// [any] Posts one event for all changes within kVerdictEventDelay. This limits the cost that a plugin causes for others
// if it posts and ends verdicts without pause.
void PluginManager::State::verdicts_changed() {
  if (verdict_event_due.exchange(true)) return;
  parts.loop.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->verdict_timer = self->parts.loop.after(kVerdictEventDelay, [state = self.get()] {
      state->verdict_event_due = false;
      const std::uint64_t generation = state->parts.services.verdicts.generation();
      for (const auto& plugin : state->all_with_coming()) plugin->notify_verdicts(generation);
    });
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
    if (std::exchange(reported[plugin.path], now) != now) parts.on_change(plugin);
  }
}

std::shared_ptr<ManagedPlugin> PluginManager::State::make(load::PluginFile file, unsigned nth, bool hold_ticks) {
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
                          .hold_ticks = hold_ticks,
                          .measure_state = parts.measure_state};
  return std::make_shared<ManagedPlugin>(std::move(of), std::move(file), nth);
}

void PluginManager::State::add_gate(load::PluginFile& file, config::FeatureGates& gates) const {
  if (!file.refusal.empty()) return;
  for (config::GateSpec& gate : file.manifest.gate_specs(file.origin))
    if (Result<void> added = gates.add(std::move(gate)); !added) file.refusal = added.error().message();
}

// Takes a file that was found. A known file stays, because only replace() replaces it. A refused file is checked again.
void PluginManager::State::take(load::PluginFile file, config::FeatureGates& gates) {
  add_gate(file, gates);
  std::lock_guard lock(mutex);
  auto known = std::find_if(plugins.begin(), plugins.end(), [&](const auto& p) { return p->file().path == file.path; });
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

void PluginManager::State::drop_missing(const load::Catalogue& catalogue) {
  Plugins missing;
  {
    std::lock_guard lock(mutex);
    auto is_there = [&](const std::shared_ptr<ManagedPlugin>& plugin) {
      auto same = [&](const load::PluginFile& file) { return file.path == plugin->file().path; };
      return std::any_of(catalogue.files.begin(), catalogue.files.end(), same);
    };
    auto gone = std::stable_partition(plugins.begin(), plugins.end(), is_there);
    missing.assign(gone, plugins.end());
    plugins.erase(gone, plugins.end());
  }
  for (auto& plugin : missing) retire(std::move(plugin));
}

void PluginManager::State::check_budgets() {
  const Plugins running = all();
  for (const auto& plugin : running) {
    plugin->check_budget();
    plugin->check_state_size();
  }
  check_agent_budget(running);
}

void PluginManager::State::check_space() {
  const std::optional<std::uint64_t> space = parts.state_space();
  if (!space || !space_watch.has_fallen(*space)) return;
  for (const auto& plugin : all()) plugin->check_state_size();
}

void PluginManager::State::check_agent_budget(const Plugins& running) {
  std::set<int> processes = {::getpid()};
  for (const PluginStatus& plugin : status())
    for (const InstanceStatus& instance : plugin.instances)
      if (instance.process > 0) processes.insert(instance.process);
  Duration cpu{};
  for (int process : processes)
    if (Result<ProcessUse> use = use_of_process(process)) cpu += use->cpu;  // it may have ended meanwhile
  const Time time{std::chrono::steady_clock::now().time_since_epoch()};     // CPU usage is measured in real time
  const bool changed = agent_budget.measure(time, cpu, cpu_budget_millis);
  cpu_cores.set(agent_budget.cores().value_or(0));
  cpu_budget_cores.set(static_cast<double>(cpu_budget_millis) / 1000);
  advisor_slowdown.set(agent_budget.slowdown());
  // This includes plugins that have started since the last poll.
  for (const auto& plugin : running) plugin->set_agent_slowdown(agent_budget.slowdown());
  if (!changed) return;
  const std::string now = "advisors tick at " + std::to_string(agent_budget.slowdown()) + " times their periods";
  const std::string why = "the agent uses " + format_cores(agent_budget.cores().value_or(0)) + " of the " +
                          format_cores(static_cast<double>(cpu_budget_millis) / 1000) + " cores of plugins.cpuBudget";
  log::info(manager_log, "{}: {}", now, why);
  parts.services.events.add({.time = parts.services.clock.now(), .what = now, .why = why});
}

}  // namespace koord::host
