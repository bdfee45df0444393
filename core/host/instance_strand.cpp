// SPDX-License-Identifier: Apache-2.0
// The steps of a session of an instance. All run on its strand, except for run(), which has its own thread. The
// instance may be abandoned during each call of the plugin. After that, it makes no further call.
#include <pthread.h>

#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/instance.hpp"
#include "core/host/instance_session.hpp"
#include "core/scrape/target_scrape.hpp"
#include "core/service/intent_results.hpp"

namespace koord::host {
namespace {

std::string explain(const char* call, const service::CallResult& result) {
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

void Instance::begin(Session& session) {
  std::string config_json;
  RunnerLimits limits;
  {
    std::lock_guard lock(mutex_);
    if (ending_) return;  // stopped before it began; wind_up() is next
    config_json = settings_.config_json;
    limits = settings_.runner;
  }
  session.context = parts_.make_context(config_json);
  session.host = session.context->host();
  {
    std::lock_guard lock(mutex_);
    session.meter = session.context->meter();
    session.close_verdicts = session.context->verdict_closer();
  }
  std::unique_ptr<Runner> runner = parts_.plugin->make_runner(parts_.class_index, *session.context, limits);
  runner->on_lost([weak = weak_from_this(), weak_session = session.weak_from_this()](const std::string& reason) {
    const auto self = weak.lock();
    const auto lost = weak_session.lock();
    if (self && lost) self->end(*lost, {PluginState::failed, reason});
  });
  {
    std::lock_guard lock(mutex_);
    if (ending_) return;
    session.runner = std::move(runner);
  }
  if (!bring_up(session) || !is_current(session)) return;
  enter(PluginState::initialised);
  if (info_.is_scraped_for()) prepare_scrapes(session);
  if (info_.runs) start_run_thread(session);
  enter(PluginState::running);
}

bool Instance::bring_up(Session& session) {
  service::CallResult created = call(session, "create", [&] { return session.runner->create(); });
  if (!is_current(session)) return false;
  if (!created.ok()) {
    conclude(session, {PluginState::failed, explain("create", created)});
    return false;
  }
  {
    std::lock_guard lock(mutex_);
    process_ = session.runner->process();
    isolation_ = session.runner->isolation();
  }
  enter(PluginState::created);
  service::CallResult initialised = call(session, "init", [&] { return session.runner->init(); });
  if (initialised.ok() || !is_current(session)) return initialised.ok();
  call(session, "destroy", [&] { return session.runner->destroy(); });
  bool absent = initialised.status == KOORD_E_UNSUPPORTED;
  conclude(session, {absent ? PluginState::absent : PluginState::failed, explain("init", initialised)});
  return false;
}

void Instance::do_tick(Session& session) {
  Duration deadline;
  {
    std::lock_guard lock(mutex_);
    tick_queued_ = state_ == PluginState::running;
    if (!tick_queued_) return;
    deadline = settings_.deadline;
  }
  if (info_.is_scraped_for()) {
    begin_scrapes(session);
    std::lock_guard lock(mutex_);
    tick_queued_ = false;
    return;
  }
  Time now = parts_.clock.now();
  service::CallResult result = call_tick(session, now, now + deadline);
  bool struck_out;
  {
    std::lock_guard lock(mutex_);
    tick_queued_ = false;
    struck_out = record_.ticked(result.wall, deadline);
  }
  if (struck_out) {
    end(session,
        {PluginState::failed, "missed its deadline of " + format_duration(deadline) + " three times in a row"});
  }
}

service::CallResult Instance::call_tick(Session& session, Time now, Time deadline) {
  if (info_.kind != "koord.qos-strategy/1") {
    return call(session, "collect", [&] { return session.runner->collect(now, deadline); });
  }
  service::CallResult result = call(session, "evaluate", [&] { return session.runner->evaluate(now, deadline); });
  if (!is_current(session)) return result;
  std::vector<evict::Request> evictions = session.context->take_evictions();
  if (!result.ok()) return session.context->drop_plan(), result;
  if (parts_.evictions != nullptr && !evictions.empty())
    parts_.evictions->take(proposer(session), std::move(evictions));
  if (session.context->repeats_plan() && parts_.plans.repeat(proposer(session)))
    return session.context->drop_plan(), result;
  auto on_applied = [weak = weak_from_this(),
                     weak_session = session.weak_from_this()](std::vector<knob::IntentResult> results) {
    const auto self = weak.lock();
    const auto planned = weak_session.lock();
    if (self && planned) self->on_applied(*planned, std::move(results));
  };
  parts_.plans.take(proposer(session), session.context->take_plan(), std::move(on_applied));
  return result;
}

void Instance::deliver_events(Session& session) {
  std::uint32_t changed;
  state::Versions versions;
  std::uint64_t verdict_generation;
  {
    std::lock_guard lock(mutex_);
    changed = std::exchange(changed_parts_, 0);
    versions = versions_;
    verdict_generation = verdict_generation_;
    if (state_ != PluginState::running) return;
  }
  const std::uint32_t wanted =
      changed & (session.context->subscribed_parts() | (session.context->wants_verdicts() ? KOORD_ON_VERDICTS : 0u));
  for (const VersionOfPart& part : kParts) {
    if ((wanted & part.part) == 0) continue;
    call(session, "on_event", [&] { return session.runner->on_event(part.part, versions.*part.version); });
    if (!is_current(session)) return;
  }
  if ((wanted & KOORD_ON_VERDICTS) != 0)
    call(session, "on_event", [&] { return session.runner->on_event(KOORD_ON_VERDICTS, verdict_generation); });
}

void Instance::deliver_results(Session& session) {
  std::vector<knob::IntentResult> results;
  {
    std::lock_guard lock(mutex_);
    results = std::exchange(results_, {});
    if (state_ != PluginState::running) return;
  }
  for (const knob::IntentResult& result : results)
    if (const auto refusal = service::refusal_of(result)) session.context->note_refusal(*refusal);
  call(session, "on_applied", [&] { return session.runner->on_applied(service::records_of(results)); });
}

void Instance::deliver_config(Session& session) {
  std::string config_json;
  {
    std::lock_guard lock(mutex_);
    if (!new_config_) return;  // an earlier task has delivered it
    config_json = *std::exchange(new_config_, std::nullopt);
    bool offers_config = state_ == PluginState::running && info_.takes_events;
    if (!offers_config) settings_.config_json = config_json;
    if (state_ != PluginState::running) return;
  }
  if (info_.takes_events) return offer_config(session, std::move(config_json));
  end(session, {PluginState::stopped, "its configuration changed"});
}

void Instance::offer_config(Session& session, std::string config_json) {
  std::string old;
  std::uint64_t version;
  {
    std::lock_guard lock(mutex_);
    old = settings_.config_json;
    version = ++config_version_;
  }
  // The context refuses text that is not a JSON object. This is handled like a refusal by the plugin.
  Result<void> taken = session.context->set_config_json(config_json);
  service::CallResult result = call(session, "on_event", [&]() -> service::CallResult {
    if (!taken) return {.status = KOORD_E_INVALID, .text = taken.error().message()};
    return session.runner->on_event(KOORD_ON_CONFIG, version);
  });
  if (!is_current(session)) return;
  if (!result.ok()) {
    [[maybe_unused]] Result<void> kept = session.context->set_config_json(old);
  }
  {
    std::lock_guard lock(mutex_);
    if (result.ok()) {
      settings_.config_json = std::move(config_json);
      generation_ = Session::next_number();
      reason_.clear();
    } else if (!ending_) {
      reason_ = "keeps its old configuration: " + explain("on_event", result);
      ++refused_configs_;
    }
  }
  parts_.on_status();
  if (!result.ok()) return;
  if (info_.is_scraped_for()) reset_scrapes(session);
}

void Instance::wind_up(Session& session) {
  if (session.runner == nullptr) return finish(session);
  call(session, "stop", [&] { return session.runner->stop(); });
  session.stop.fire();
  {
    std::lock_guard lock(mutex_);
    session.run_awaited = session.runs;
    if (session.runs) return;  // run_returned() finishes the session
  }
  finish(session);
}

void Instance::finish(Session& session) {
  std::thread run_thread;
  {
    std::lock_guard lock(mutex_);
    run_thread = std::move(session.run_thread);
    session.run_awaited = false;
  }
  if (run_thread.joinable()) run_thread.join();
  for (const auto& target : session.targets)
    if (target->in_flight()) target->fetcher.join();  // the stop signal ends its exchange
  if (session.runner != nullptr) call(session, "destroy", [&] { return session.runner->destroy(); });
  conclude(session, {PluginState::stopped, {}});
}

void Instance::conclude(Session& session, Ending ending) {
  if (!is_current(session)) return;
  // The context closes what the plugin left open, before the end of the plugin is reported.
  session.context.reset();
  if (info_.kind == "koord.qos-strategy/1") parts_.plans.withdraw(proposer(session));
  {
    std::lock_guard lock(mutex_);
    if (state_ == PluginState::wedged) return;
    if (session.meter) record_.charge(session.meter->cpu());
    if (ending_) ending = *std::exchange(ending_, std::nullopt);
    session_.reset();
    state_ = ending.state;
    reason_ = std::move(ending.reason);
    tick_queued_ = false;
    changed_parts_ = 0;
    if (new_config_) settings_.config_json = *std::exchange(new_config_, std::nullopt);
    results_.clear();
    scrapes_.clear();
    process_ = 0;
    isolation_.reset();
  }
  parts_.on_change(ending.state);
}

void Instance::start_run_thread(Session& session) {
  auto run = [self = shared_from_this(), kept = session.shared_from_this()] {
    pthread_setname_np(pthread_self(), self->parts_.plugin_id.substr(0, 15).c_str());
    service::CallResult result = kept->runner->run(kept->stop);
    self->run_returned(*kept, result);
  };
  try {
    std::lock_guard lock(mutex_);
    if (state_ == PluginState::wedged) return;
    session.run_thread = std::thread(std::move(run));
    session.runs = true;
  } catch (const std::system_error& error) {
    end(session, {PluginState::failed, std::string("no thread for run(): ") + error.what()});
  }
}

void Instance::run_returned(Session& session, const service::CallResult& result) {
  bool awaited;
  {
    std::lock_guard lock(mutex_);
    session.runs = false;
    if (state_ == PluginState::wedged) return;
    record_.count("run", result);
    awaited = session.run_awaited;
  }
  if (awaited) {
    post(session, &Instance::finish);
  } else if (!result.ok()) {
    end(session, {PluginState::failed, explain("run", result)});
  }
}

}  // namespace koord::host
