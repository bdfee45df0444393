// SPDX-License-Identifier: Apache-2.0
#include "core/host/plugin_manager.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "core/base/parse.hpp"
#include "core/event/loop.hpp"
#include "core/host/managed_plugin.hpp"
#include "core/host/module.hpp"
#include "core/host/plugin_metrics.hpp"
#include "core/host/shared_services.hpp"

namespace koord::host {

using Plugins = std::vector<std::shared_ptr<ManagedPlugin>>;

struct PluginManager::State : std::enable_shared_from_this<State> {
  explicit State(Parts p) : parts(std::move(p)), metrics(parts.metrics) {
    if (!parts.load) parts.load = Module::load;
  }

  void subscribe();
  void changed();
  void report();
  void take(PluginFile file, config::FeatureGates& gates);
  void drop_missing(const Catalogue& catalogue);
  Plugins all() const;
  std::vector<PluginStatus> status() const;

  Parts parts;
  PluginMetrics metrics;
  std::uint64_t hub_subscription = 0;
  unsigned next_nth = 0;
  Plugins retired;                          // their files are gone; ending
  std::map<std::string, std::string> told;  // by path: state and reason last given to on_change
  std::atomic<bool> report_posted = false;

  std::mutex ended_mutex;
  std::condition_variable ended;

  mutable std::mutex mutex;  // of what follows
  Plugins plugins;
  std::vector<std::string> problems;
  std::vector<std::string> required;
};

void PluginManager::State::subscribe() {
  auto on_change = [weak = weak_from_this()](std::uint32_t parts_changed,
                                             const state::SnapshotPtr& snapshot) {
    auto self = weak.lock();
    if (self == nullptr) return;
    for (const auto& plugin : self->all()) plugin->notify(parts_changed, snapshot->versions);
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

std::vector<PluginStatus> PluginManager::State::status() const {
  std::vector<PluginStatus> list;
  for (const auto& plugin : all()) list.push_back(plugin->status());
  return list;
}

// [any]
void PluginManager::State::changed() {
  { std::lock_guard lock(ended_mutex); }
  ended.notify_all();
  if (!parts.on_change || report_posted.exchange(true)) return;
  parts.loop.post([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->report();
  });
}

void PluginManager::State::report() {
  report_posted = false;
  for (const PluginStatus& plugin : status()) {
    std::string now = std::string(to_string(plugin.state)) + ": " + plugin.reason;
    if (std::exchange(told[plugin.path], now) != now) parts.on_change(plugin);
  }
}

// A file that is known stays as it is while the agent runs: what was mapped cannot be replaced. One that was
// refused is looked at again.
void PluginManager::State::take(PluginFile file, config::FeatureGates& gates) {
  if (file.refusal.empty()) {
    if (Result<void> added = gates.add(file.manifest.gate_spec()); !added)
      file.refusal = added.error().message();
  }
  std::lock_guard lock(mutex);
  auto known = std::find_if(plugins.begin(), plugins.end(),
                            [&](const auto& p) { return p->file().path == file.path; });
  if (known != plugins.end() && (*known)->file().refusal.empty()) return;
  ManagedPlugin::Parts of{.loop = parts.loop,
                          .pool = parts.pool,
                          .services = parts.services,
                          .plans = parts.plans,
                          .load = parts.load,
                          .load_in_child = parts.load_in_child,
                          .restart_delay = parts.restart_delay,
                          .changed = [weak = weak_from_this()] {
                            if (auto self = weak.lock()) self->changed();
                          }};
  auto plugin = std::make_shared<ManagedPlugin>(std::move(of), std::move(file), next_nth++);
  known == plugins.end() ? plugins.push_back(std::move(plugin)) : void(*known = std::move(plugin));
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
  for (const auto& plugin : missing) plugin->stop();
  std::move(missing.begin(), missing.end(), std::back_inserter(retired));
}

PluginManager::PluginManager(Parts parts) : state_(std::make_shared<State>(std::move(parts))) {
  state_->subscribe();
}

PluginManager::~PluginManager() {
  stop();
  state_->parts.services.hub.remove(state_->hub_subscription);
}

void PluginManager::discover(const std::vector<std::string>& directories, config::FeatureGates& gates) {
  Catalogue catalogue = read_catalogue(directories);
  state_->drop_missing(catalogue);
  for (PluginFile& file : catalogue.files) state_->take(std::move(file), gates);
  {
    std::lock_guard lock(state_->mutex);
    state_->problems = std::move(catalogue.problems);
  }
  state_->changed();
}

void PluginManager::apply(const config::PluginsSettings& settings, const config::FeatureGates& gates,
                          const std::vector<TrustedKey>& keys) {
  {
    std::lock_guard lock(state_->mutex);
    state_->required.clear();
    for (const auto& [id, of] : settings.settings) {
      if (of.required) state_->required.push_back(id);
    }
  }
  for (const auto& plugin : state_->all()) {
    const Manifest& manifest = plugin->file().manifest;
    const config::PluginSettings& of = settings.of(manifest.id);
    plugin->apply(gates.enabled(manifest.gate), of, {settings.trust, of.sha256, keys});
  }
}

bool PluginManager::stop(Duration grace) {
  Plugins plugins = state_->all();
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
