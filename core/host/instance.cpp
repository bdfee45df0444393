// SPDX-License-Identifier: Apache-2.0
// Functions of an instance for other threads. Their work on its strand is in instance_strand.cpp.
#include "core/host/instance.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/hook_call.hpp"
#include "core/host/instance_session.hpp"
#include "core/log/log.hpp"

namespace koord::host {
namespace {

constexpr log::Category instance_log{"plugin"};

// The minimum time limit of a tick in a process that can be killed. A busy machine alone must not end the process.
constexpr Duration kLeastPatience = std::chrono::seconds(1);
// The time that a process that can be killed has to end.
constexpr Duration kEndPatience = std::chrono::seconds(10);

// Keeps abandoned instances: they are never destroyed, because a call in them may continue at any time.
void keep_for_ever(std::shared_ptr<Instance> instance) {
  static std::mutex& mutex = *new std::mutex;
  static auto& kept = *new std::vector<std::shared_ptr<Instance>>;
  std::lock_guard lock(mutex);
  kept.push_back(std::move(instance));
}

}  // namespace

std::shared_ptr<Instance> Instance::make(Parts parts, InstanceSettings settings) {
  return std::shared_ptr<Instance>(new Instance(std::move(parts), std::move(settings)));
}

Instance::Instance(Parts parts, InstanceSettings settings)
    : parts_(std::move(parts)),
      info_(parts_.plugin->classes()[parts_.class_index]),
      strand_(parts_.pool, parts_.plugin_id),
      hook_strand_(
          info_.kind == "koord.runtime-hook/1"
              ? std::make_unique<event::Strand>(parts_.hook_pool ? *parts_.hook_pool : parts_.pool, parts_.plugin_id)
              : nullptr),
      settings_(std::move(settings)) {}

Instance::~Instance() = default;

void Instance::post(Session& session, Step step) { post(session, step, wedged_after()); }

// Returns the time limit of a tick: three deadlines in a process that can be killed. In the agent's process it is
// longer, because abandoning a call there costs a thread forever.
Duration Instance::patience_of_tick() const {
  if (!parts_.plugin->expendable()) return settings_.wedged_after;
  return std::min(settings_.wedged_after, std::max<Duration>(3 * settings_.deadline, kLeastPatience));
}

void Instance::post(Session& session, Step step, Duration patience) {
  auto task = [self = shared_from_this(), kept = session.shared_from_this(), step] {
    if (self->is_current(*kept)) (self.get()->*step)(*kept);
  };
  post_to(strand_, task, patience, nullptr);
}

// `call`: the name of the call; nullptr: the record has it.
bool Instance::post_to(event::Strand& strand, event::Task task, Duration patience, const char* call) {
  // A call to an expendable process returns when the process is aborted, unless the process cannot be killed.
  event::Limits limits;
  if (parts_.plugin->expendable()) limits.deadline = patience;
  limits.wedged_after = parts_.plugin->expendable() ? patience + kEndPatience : patience;
  auto on_overrun = [weak = weak_from_this(), limits, call](event::Overrun overrun) {
    std::shared_ptr<Instance> self = weak.lock();
    if (self == nullptr) return;
    const std::string prefix = call ? std::string(call) + "() " : std::string();
    if (overrun == event::Overrun::late)
      return self->abort_runner(prefix + "did not return within " + format_duration(limits.deadline));
    keep_for_ever(self);  // first, so this thread does not destroy it
    const std::string reason = "did not return within " + format_duration(limits.wedged_after);
    call ? self->write_off_call(call, reason) : self->write_off(reason);
  };
  return strand.post(std::move(task), limits, on_overrun);
}

bool Instance::is_current(const Session& session) const {
  std::lock_guard lock(mutex_);
  return session_.get() == &session && state_ != PluginState::wedged;
}

std::shared_ptr<Instance::Session> Instance::running_session() const {
  std::lock_guard lock(mutex_);
  return state_ == PluginState::running ? session_ : nullptr;
}

decision::Proposer Instance::proposer(const Session& session) const {
  return {parts_.plugin_id, info_.name, session.number};
}

void Instance::abort_runner(const std::string& reason, Duration grace) {
  std::shared_ptr<Session> session;
  Runner* runner = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (state_ == PluginState::wedged) return;
    session = session_;
    if (session != nullptr) runner = session->runner.get();
  }
  if (runner != nullptr) runner->abort(reason, grace);
}

void Instance::enter(PluginState state) {
  {
    std::lock_guard lock(mutex_);
    if (ending_ || state_ == PluginState::wedged) return;
    state_ = state;
    reason_.clear();
  }
  parts_.on_change(state);
}

void Instance::start() {
  const auto session = std::make_shared<Session>();
  {
    std::lock_guard lock(mutex_);
    if (session_ != nullptr) return;
    session_ = session;
    generation_ = session->number;
    record_.reset_misses();
  }
  enter(PluginState::loaded);
  post(*session, &Instance::begin);
}

void Instance::tick() {
  std::shared_ptr<Session> session;
  Duration patience;
  {
    std::lock_guard lock(mutex_);
    if (state_ != PluginState::running) return;
    if (tick_queued_) return record_.skipped_tick();
    tick_queued_ = true;
    session = session_;
    patience = patience_of_tick();
  }
  post(*session, &Instance::do_tick, patience);
}

void Instance::notify(std::uint32_t parts, const state::Versions& versions) {
  notify(parts, [&] { versions_ = versions; });
}

void Instance::notify_verdicts(std::uint64_t generation) {
  notify(KOORD_ON_VERDICTS, [&] { verdict_generation_ = generation; });
}

// `keep` stores the versions. It is called with the lock held.
void Instance::notify(std::uint32_t changed, const std::function<void()>& keep) {
  std::shared_ptr<Session> session;
  {
    std::lock_guard lock(mutex_);
    session = session_;
    if (session == nullptr || !info_.takes_events) return;
    keep();
    bool queued = changed_parts_ != 0;
    changed_parts_ |= changed;
    if (queued || changed_parts_ == 0) return;
  }
  post(*session, &Instance::deliver_events);
}

void Instance::reconfigure(std::string config_json) {
  std::shared_ptr<Session> session;
  {
    std::lock_guard lock(mutex_);
    session = session_;
    if (session == nullptr) {
      settings_.config_json = std::move(config_json);
      return;
    }
    new_config_ = std::move(config_json);
  }
  post(*session, &Instance::deliver_config);
}

void Instance::set_limits(Duration deadline, Duration wedged_after) {
  std::lock_guard lock(mutex_);
  settings_.deadline = deadline;
  settings_.wedged_after = wedged_after;
}

void Instance::set_runner_limits(const RunnerLimits& limits) {
  std::lock_guard lock(mutex_);
  settings_.runner = limits;
}

void Instance::on_applied(Session& session, std::vector<knob::IntentResult> results) {
  {
    std::lock_guard lock(mutex_);
    if (session_.get() != &session) return;
    bool queued = !results_.empty();
    std::move(results.begin(), results.end(), std::back_inserter(results_));
    if (queued) return;
  }
  post(session, &Instance::deliver_results);
}

void Instance::handle(std::shared_ptr<HookCall> call) {
  if (hook_strand_ == nullptr) return call->fail(parts_.plugin_id + " is no runtime hook");
  auto task = [self = shared_from_this(), call] {
    std::shared_ptr<Session> session = self->running_session();
    if (session == nullptr) return call->fail("it does not run");
    call->run(session->host, self->reach_of_hook(),
              [&](const koord_hook_request& request, const koord_hook_response& response) {
                service::CallResult result = session->runner->handle(request, response);
                std::lock_guard lock(self->mutex_);
                self->record_.count("handle", result);
                return result;
              });
  };
  const Duration patience =
      parts_.plugin->expendable() ? std::max<Duration>(3 * call->patience(), kLeastPatience) : wedged_after();
  if (!post_to(*hook_strand_, task, patience, "handle")) call->fail("a call of it did not come back");
}

HookReach Instance::reach_of_hook() const {
  std::lock_guard lock(mutex_);
  return hook_reach(settings_.runner.third_party, settings_.runner.hook_fields);
}

void Instance::missed_hook() {
  std::lock_guard lock(mutex_);
  record_.missed_deadline();
}

Duration Instance::deadline() const {
  std::lock_guard lock(mutex_);
  return settings_.deadline;
}

std::uint64_t Instance::generation() const {
  std::lock_guard lock(mutex_);
  return generation_;
}

Duration Instance::wedged_after() const {
  std::lock_guard lock(mutex_);
  return settings_.wedged_after;
}

void Instance::stop() { end_current({PluginState::stopped, {}}); }

void Instance::fail(const std::string& reason) { end_current({PluginState::failed, reason}); }

void Instance::fail_at_once(const std::string& reason) {
  fail(reason);
  if (parts_.plugin->expendable()) abort_runner(reason, Duration::zero());
}

void Instance::end_current(Ending ending) {
  std::shared_ptr<Session> session;
  {
    std::lock_guard lock(mutex_);
    session = session_;
  }
  if (session != nullptr) end(*session, std::move(ending));
}

void Instance::end(Session& session, Ending ending) {
  bool is_start_given_up = false;
  {
    std::lock_guard lock(mutex_);
    if (session_.get() != &session || state_ == PluginState::wedged) return;
    bool winds_up = ending_.has_value();
    // A requested stop takes precedence over a failure on the way.
    if (!winds_up || ending.state == PluginState::stopped) ending_ = std::move(ending);
    if (winds_up) return;
    // Before init() has returned, a plugin has nothing to stop.
    const bool is_starting = state_ == PluginState::loaded || state_ == PluginState::created;
    is_start_given_up = is_starting && ending_->state == PluginState::stopped && parts_.plugin->expendable();
    if (is_start_given_up) session.is_process_ended = true;
    state_ = PluginState::stopping;
    reason_ = ending_->reason;
  }
  parts_.on_change(PluginState::stopping);
  post(session, &Instance::wind_up);
  if (!is_start_given_up) return;
  log::info(instance_log, "{} was still starting at the stop, its process is ended", parts_.plugin_id);
  abort_runner("was stopped before it had started");
}

void Instance::end_process() {
  const std::string reason = "has not ended within " + format_duration(kStopGrace) + " of the stop";
  {
    std::lock_guard lock(mutex_);
    if (session_ == nullptr || state_ != PluginState::stopping || !parts_.plugin->expendable()) return;
    if (std::exchange(session_->is_process_ended, true)) return;
  }
  log::warn(instance_log, "{} {}, its process is ended", parts_.plugin_id, reason);
  abort_runner(reason);
}

void Instance::write_off(const std::string& reason) {
  std::string call;
  {
    std::lock_guard lock(mutex_);
    call = session_ != nullptr && session_->run_awaited ? "run" : record_.call();
  }
  write_off_call(call, reason);
}

void Instance::write_off_call(const std::string& call, const std::string& reason) {
  std::shared_ptr<Session> session;
  std::function<void(std::string_view why)> close_verdicts;
  {
    std::lock_guard lock(mutex_);
    if (session_ == nullptr || state_ == PluginState::wedged) return;
    session = session_;
    close_verdicts = session->close_verdicts;
    state_ = PluginState::wedged;
    reason_ = call + "() " + reason;
    ending_.reset();
    if (session->run_thread.joinable()) session->run_thread.detach();
  }
  keep_for_ever(shared_from_this());
  if (session->runner != nullptr) session->runner->abort(reason, kAbortGrace);
  session->stop.fire();
  // Reverting knobs writes files, which may take a while, and this may be the watchdog's thread. So the pool does it.
  parts_.pool.post([self = shared_from_this(), session, close_verdicts = std::move(close_verdicts)] {
    self->parts_.plans.withdraw(self->proposer(*session));
    if (close_verdicts) close_verdicts("its plugin does not return");
  });
  parts_.on_change(PluginState::wedged);
}

PluginState Instance::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

bool Instance::ended() const {
  std::lock_guard lock(mutex_);
  return session_ == nullptr || state_ == PluginState::wedged;
}

InstanceStatus Instance::status() const {
  std::lock_guard lock(mutex_);
  InstanceStatus status{.kind = info_.kind,
                        .name = info_.name,
                        .state = state_,
                        .reason = reason_,
                        .scrape_count = scrape_count_,
                        .scrape_failures = scrape_failures_,
                        .process = process_,
                        .isolation = isolation_,
                        .refused_configs = refused_configs_};
  record_.fill(status);
  status.ticking = tick_queued_;
  for (const auto& [name, scrape] : scrapes_) {
    status.scrapes.push_back(scrape);
    if (status.reason.empty()) status.reason = scrape.problem;
  }
  if (session_ == nullptr) return status;
  status.counts.cpu += session_->run_cpu();
  if (!session_->meter) return status;
  status.service_cpu = session_->meter->cpu();
  status.counts.cpu += status.service_cpu;
  if (status.reason.empty()) status.reason = session_->meter->breaches.newest(parts_.clock.now());
  return status;
}

}  // namespace koord::host
