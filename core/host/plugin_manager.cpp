// SPDX-License-Identifier: Apache-2.0
#include "core/host/plugin_manager.hpp"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/plugin_gates.hpp"
#include "core/host/plugin_manager_state.hpp"

namespace koord::host {

PluginManager::PluginManager(Parts parts) : state_(std::make_shared<State>(std::move(parts))) { state_->subscribe(); }

PluginManager::~PluginManager() {
  stop();
  state_->unsubscribe();
}

void PluginManager::discover(const config::PluginsSettings& settings, config::FeatureGates& gates) {
  load::Catalogue catalogue = load::read_catalogue(settings);
  state_->drop_missing(catalogue);
  std::vector<std::string> ids;
  for (const load::PluginFile& file : catalogue.files) ids.push_back(file.manifest.id);
  std::vector<std::string> unknown = load::find_unknown_settings(settings, ids, load::unread_files(catalogue.files));
  for (load::PluginFile& file : catalogue.files) state_->take(std::move(file), gates);
  {
    std::lock_guard lock(state_->mutex);
    state_->problems = std::move(catalogue.problems);
    state_->unknown_settings = std::move(unknown);
  }
  state_->changed();
}

void PluginManager::rediscover(const config::PluginsSettings& settings, config::FeatureGates& gates) {
  state_->seen_last = load::read_catalogue(settings);
  for (load::PluginFile& file : state_->seen_last.files) state_->add_gate(file, gates);
}

void PluginManager::replace(const std::string& id, const config::PluginsSettings& settings,
                            const config::FeatureGates& gates, const std::vector<load::TrustedKey>& keys, Done done) {
  Plugins known = state_->all();
  auto old = std::find_if(known.begin(), known.end(), [&](const auto& p) { return p->file().manifest.id == id; });
  auto refuse_it = [&](const std::string& why) {
    if (old != known.end()) (*old)->count_refused_reload();
    done(invalid(why));
  };
  for (const auto& replacement : state_->replacements)
    if (!replacement->over() && replacement->fresh()->file().manifest.id == id)
      return done(invalid("is being reloaded already"));
  const load::PluginFile* file = nullptr;
  for (const load::PluginFile& found : state_->seen_last.files)
    if (found.manifest.id == id && (file == nullptr || !file->refusal.empty())) file = &found;
  if (file == nullptr)
    return refuse_it("no plugin directory has a plugin of this id" + load::unread_files(state_->seen_last.files));
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
  const config::PluginSettings of = effective_settings(file->manifest, gates, settings);
  fresh->apply(true, of, {settings.trust, of.sha256, keys}, settings.minimum_isolation);
  state_->changed();
}

void PluginManager::apply(const config::PluginsSettings& settings, const config::FeatureGates& gates,
                          const std::vector<load::TrustedKey>& keys) {
  state_->cpu_budget_millis = settings.cpu_budget_millis;
  if (!state_->budget_timer)
    state_->budget_timer =
        state_->parts.loop.every(state_->parts.budget_period, [state = state_.get()] { state->check_budgets(); });
  const Plugins known = state_->all_with_coming();
  const bool has_third_parties = std::any_of(known.begin(), known.end(), [](const auto& plugin) {
    return plugin->file().origin == load::Origin::third_party;
  });
  state_->space_timer.reset();
  if (has_third_parties && state_->parts.state_space)
    state_->space_timer =
        state_->parts.loop.every(state_->parts.space_period, [state = state_.get()] { state->check_space(); });
  {
    std::lock_guard lock(state_->mutex);
    state_->minimum_isolation = settings.minimum_isolation;
    state_->required.clear();
    for (const auto& [id, of] : settings.settings) {
      if (of.required) state_->required.push_back(id);
    }
  }
  for (const auto& plugin : known) {
    const load::Manifest& manifest = plugin->file().manifest;
    const config::PluginSettings of = effective_settings(manifest, gates, settings);
    plugin->apply(any_gate_is_on(manifest, gates), of, {settings.trust, of.sha256, keys}, settings.minimum_isolation);
  }
}

bool PluginManager::stop(Duration grace) {
  state_->budget_timer.reset();
  state_->space_timer.reset();
  state_->verdict_timer.reset();
  for (const auto& replacement : std::exchange(state_->replacements, {})) replacement->give_up("the agent ends");
  Plugins plugins = state_->all_with_coming();
  plugins.insert(plugins.end(), state_->retired.begin(), state_->retired.end());
  for (const auto& plugin : plugins) plugin->stop();
  auto all_ended = [&] { return std::all_of(plugins.begin(), plugins.end(), [](auto& p) { return p->ended(); }); };
  const auto begin = std::chrono::steady_clock::now();
  auto wait_until = [&](Duration since_begin) {
    std::unique_lock lock(state_->ended_mutex);
    return state_->ended.wait_until(lock, begin + since_begin, all_ended);
  };
  // Ends all processes at the same time, so slow plugins do not wait for each other.
  if (!wait_until(std::min(grace, kStopGrace))) {
    for (const auto& plugin : plugins) plugin->end_processes();
    wait_until(grace);
  }
  bool clean = true;
  for (const auto& plugin : plugins) {
    clean &= plugin->write_off_rest("has not returned within " + format_duration(grace) + " of the stop");
  }
  return clean;
}

std::vector<PluginStatus> PluginManager::status() const { return state_->status(); }

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
  std::sort(hooks.begin(), hooks.end(), [](const HookTarget& a, const HookTarget& b) {
    return std::tie(a.plugin, a.name) < std::tie(b.plugin, b.name);
  });
  return hooks;
}

std::vector<config::IsolationLayer> PluginManager::minimum_isolation() const {
  std::lock_guard lock(state_->mutex);
  return state_->minimum_isolation;
}

Readiness PluginManager::ready() const {
  std::vector<std::string> required = [&] {
    std::lock_guard lock(state_->mutex);
    return state_->required;
  }();
  Readiness readiness;
  std::vector<PluginStatus> plugins = status();
  for (const std::string& id : required) {
    auto found = std::find_if(plugins.begin(), plugins.end(), [&](const PluginStatus& p) { return p.id == id; });
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

std::vector<std::string> PluginManager::unknown_settings() const {
  std::lock_guard lock(state_->mutex);
  return state_->unknown_settings;
}

}  // namespace koord::host
