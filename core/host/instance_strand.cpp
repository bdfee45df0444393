// SPDX-License-Identifier: Apache-2.0
// The session of an instance, step by step. Everything here runs on its strand, except run() on its own thread. After
// each call of the plugin the instance may have been written off: then nothing of it is called any more.
#include <pthread.h>

#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/instance.hpp"
#include "core/host/instance_life.hpp"
#include "core/host/intent_results.hpp"
#include "core/host/target_scrape.hpp"

namespace koord::host {
namespace {

std::string explain(const char* call, const CallResult& result) {
  return std::string(call) + "(): " + describe(result);
}

struct VersionOfPart {
  std::uint32_t part;
  std::uint64_t state::Versions::*version;
};

constexpr VersionOfPart kParts[] = {
    {KOORD_ON_NODE, &state::Versions::node},
    {KOORD_ON_PODS, &state::Versions::pods},
    {KOORD_ON_NODE_SLO, &state::Versions::node_slo},
    {KOORD_ON_TOPOLOGY, &state::Versions::topology},
};

}  // namespace

void Instance::begin() {
  std::shared_ptr<Life> life = current_life();
  if (life == nullptr) return;
  std::string config_json;
  HomeLimits limits;
  {
    std::lock_guard lock(mutex_);
    if (ending_) return;  // stopped before it began; wind_up() is next
    config_json = settings_.config_json;
    limits = settings_.home;
  }
  life->context = parts_.make_context(config_json);
  life->host = life->context->host();
  {
    std::lock_guard lock(mutex_);
    life->meter = life->context->meter();
  }
  std::unique_ptr<Home> home = parts_.plugin->make_home(parts_.class_index, *life->context, limits);
  home->on_lost([weak = weak_from_this()](const std::string& reason) {
    if (auto self = weak.lock()) self->end({PluginState::failed, reason});
  });
  {
    std::lock_guard lock(mutex_);
    if (ending_) return;
    life->home = std::move(home);
  }
  if (!bring_up(*life) || current_life() == nullptr) return;
  enter(PluginState::initialised);
  if (info_.is_scraped_for()) prepare_scrapes(*life);
  if (info_.runs) start_run_thread(life);
  enter(PluginState::running);
}

bool Instance::bring_up(Life& life) {
  CallResult created = call("create", [&] { return life.home->create(); });
  if (current_life() == nullptr) return false;
  if (!created.ok()) {
    conclude({PluginState::failed, explain("create", created)});
    return false;
  }
  {
    std::lock_guard lock(mutex_);
    process_ = life.home->process();
    isolation_ = life.home->isolation();
  }
  enter(PluginState::created);
  CallResult initialised = call("init", [&] { return life.home->init(); });
  if (initialised.ok() || current_life() == nullptr) return initialised.ok();
  call("destroy", [&] { return life.home->destroy(); });
  bool absent = initialised.status == KOORD_E_UNSUPPORTED;
  conclude({absent ? PluginState::absent : PluginState::failed, explain("init", initialised)});
  return false;
}

void Instance::do_tick() {
  std::shared_ptr<Life> life = current_life();
  Duration deadline;
  {
    std::lock_guard lock(mutex_);
    tick_queued_ = state_ == PluginState::running;
    if (!tick_queued_) return;
    deadline = settings_.deadline;
  }
  if (info_.is_scraped_for()) {
    begin_scrapes(life);
    std::lock_guard lock(mutex_);
    tick_queued_ = false;
    return;
  }
  Time now = parts_.clock.now();
  CallResult result = call_tick(*life, now, now + deadline);
  bool struck_out;
  {
    std::lock_guard lock(mutex_);
    tick_queued_ = false;
    struck_out = record_.ticked(result.wall, deadline);
  }
  if (struck_out) {
    end({PluginState::failed,
         "missed its deadline of " + format_duration(deadline) + " three times in a row"});
  }
}

CallResult Instance::call_tick(Life& life, Time now, Time deadline) {
  if (info_.kind != "koord.qos-strategy/1") {
    return call("collect", [&] { return life.home->collect(now, deadline); });
  }
  CallResult result = call("evaluate", [&] { return life.home->evaluate(now, deadline); });
  if (current_life() == nullptr) return result;
  std::vector<evict::Request> evictions = life.context->take_evictions();
  if (!result.ok()) return life.context->drop_plan(), result;
  if (parts_.evictions != nullptr && !evictions.empty()) parts_.evictions->take(proposer(life), std::move(evictions));
  if (life.context->repeats_plan() && parts_.plans.repeat(proposer(life))) return life.context->drop_plan(), result;
  parts_.plans.take(proposer(life), life.context->take_plan(), [weak = weak_from_this()](std::vector<knob::IntentResult> results) {
    if (auto self = weak.lock()) self->on_applied(std::move(results));
  });
  return result;
}

void Instance::deliver_events() {
  std::shared_ptr<Life> life = current_life();
  std::uint32_t changed;
  state::Versions versions;
  {
    std::lock_guard lock(mutex_);
    changed = std::exchange(changed_parts_, 0);
    versions = versions_;
    if (state_ != PluginState::running) return;
  }
  for (const VersionOfPart& part : kParts) {
    if ((changed & life->context->subscribed_parts() & part.part) == 0) continue;
    call("on_event", [&] { return life->home->on_event(part.part, versions.*part.version); });
    if (current_life() == nullptr) return;
  }
}

void Instance::deliver_results() {
  std::shared_ptr<Life> life = current_life();
  std::vector<knob::IntentResult> results;
  {
    std::lock_guard lock(mutex_);
    results = std::exchange(results_, {});
    if (life == nullptr || state_ != PluginState::running) return;
  }
  for (const knob::IntentResult& result : results)
    if (const auto refusal = refusal_of(result)) life->context->note_refusal(*refusal);
  call("on_applied", [&] { return life->home->on_applied(records_of(results)); });
}

void Instance::deliver_config() {
  std::shared_ptr<Life> life = current_life();
  std::string config_json;
  {
    std::lock_guard lock(mutex_);
    if (!new_config_) return;  // a later one came before this task did
    config_json = *std::exchange(new_config_, std::nullopt);
    bool tell = state_ == PluginState::running && info_.takes_events;
    if (!tell) settings_.config_json = config_json;
    if (state_ != PluginState::running) return;
  }
  if (info_.takes_events) return offer_config(*life, std::move(config_json));
  end({PluginState::stopped, "its configuration changed"});
}

void Instance::offer_config(Life& life, std::string config_json) {
  std::string old;
  std::uint64_t version;
  {
    std::lock_guard lock(mutex_);
    old = settings_.config_json;
    version = ++config_version_;
  }
  // The context refuses text that is no JSON object: handled like a refusal by the plugin.
  Result<void> taken = life.context->set_config_json(config_json);
  CallResult result = call("on_event", [&]() -> CallResult {
    if (!taken) return {.status = KOORD_E_INVALID, .text = taken.error().message()};
    return life.home->on_event(KOORD_ON_CONFIG, version);
  });
  if (current_life() == nullptr) return;
  if (!result.ok()) {
    [[maybe_unused]] Result<void> kept = life.context->set_config_json(old);
  }
  {
    std::lock_guard lock(mutex_);
    if (result.ok()) {
      settings_.config_json = std::move(config_json);
      reason_.clear();
    } else if (!ending_) {
      reason_ = "keeps its old configuration: " + explain("on_event", result);
      ++refused_configs_;
    }
  }
  parts_.on_news();
  if (!result.ok()) return;
  if (info_.is_scraped_for()) scrape_anew(life);
}

void Instance::wind_up() {
  std::shared_ptr<Life> life = current_life();
  if (life == nullptr) return;
  {
    std::lock_guard lock(mutex_);
    if (!ending_) return;  // the life that was to end has failed by itself, and this is the next
  }
  if (life->home == nullptr) return finish();
  call("stop", [&] { return life->home->stop(); });
  life->stop.fire();
  {
    std::lock_guard lock(mutex_);
    life->run_awaited = life->runs;
    if (life->runs) return;  // run_returned() goes on
  }
  finish();
}

void Instance::finish() {
  std::shared_ptr<Life> life = current_life();
  if (life == nullptr) return;
  std::thread runner;
  {
    std::lock_guard lock(mutex_);
    runner = std::move(life->runner);
    life->run_awaited = false;
  }
  if (runner.joinable()) runner.join();
  for (const auto& target : life->targets)
    if (target->in_flight()) target->fetcher.join();  // the stop signal cuts its exchange off
  if (life->home != nullptr) call("destroy", [&] { return life->home->destroy(); });
  conclude({PluginState::stopped, {}});
}

void Instance::conclude(Ending ending) {
  std::shared_ptr<Life> life = current_life();
  if (life == nullptr) return;
  // It closes what the plugin left open, before anyone hears that the plugin has ended.
  life->context.reset();
  if (info_.kind == "koord.qos-strategy/1") parts_.plans.withdraw(proposer(*life));
  {
    std::lock_guard lock(mutex_);
    if (state_ == PluginState::wedged) return;
    if (life->meter) record_.charge(life->meter->cpu());
    if (ending_) ending = *std::exchange(ending_, std::nullopt);
    life_.reset();
    state_ = ending.state;
    reason_ = std::move(ending.reason);
    tick_queued_ = false;
    results_.clear();
    scrapes_.clear();
    process_ = 0;
    isolation_.reset();
  }
  parts_.on_change(ending.state);
}

void Instance::start_run_thread(const std::shared_ptr<Life>& life) {
  auto run = [self = shared_from_this(), life] {
    pthread_setname_np(pthread_self(), self->parts_.plugin_id.substr(0, 15).c_str());
    CallResult result = life->home->run(life->stop);
    self->run_returned(*life, result);
  };
  try {
    std::lock_guard lock(mutex_);
    if (state_ == PluginState::wedged) return;
    life->runner = std::thread(std::move(run));
    life->runs = true;
  } catch (const std::system_error& error) {
    end({PluginState::failed, std::string("no thread for run(): ") + error.what()});
  }
}

void Instance::run_returned(Life& life, const CallResult& result) {
  bool awaited;
  {
    std::lock_guard lock(mutex_);
    life.runs = false;
    if (state_ == PluginState::wedged) return;
    record_.count("run", result);
    awaited = life.run_awaited;
  }
  if (awaited) {
    post(&Instance::finish);
  } else if (!result.ok()) {
    end({PluginState::failed, explain("run", result)});
  }
}

}  // namespace koord::host
