// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/player.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/stop_signal.hpp"
#include "core/load/config_schema.hpp"
#include "core/load/grants.hpp"

namespace koord::workshop {
namespace {

std::set<std::string> grants_of(const std::string& kind) {
  std::vector<std::string> granted = load::granted_services(kind);
  return {granted.begin(), granted.end()};
}

void keep_first_failure(service::CallResult& so_far, service::CallResult next) {
  if (so_far.ok()) so_far = std::move(next);
}

}  // namespace

Result<std::size_t> find_class(const host::LoadedPlugin& plugin, std::string_view name) {
  std::vector<std::string> names;
  for (const load::ClassInfo& info : plugin.classes()) {
    if (name.empty() || info.name == name) return names.size();
    names.push_back(info.name);
  }
  return invalid("no class '" + std::string(name) + "', the plugin has " + join(names, ", "));
}

// The thread of run().
struct Player::RunThread {
  host::StopSignal stop;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable returned;
  std::optional<service::CallResult> result;
};

Player::Player(MemoryHost& host, Role role)
    : role_(std::move(role)),
      info_(role_.plugin->classes()[role_.class_index]),
      context_(host.make_context(role_.plugin_id, grants_of(info_.kind), role_.config_json, role_.rights)),
      runner_(role_.plugin->make_runner(role_.class_index, *context_, role_.limits)) {}

Player::~Player() { end(); }

service::CallResult Player::check_config(const std::string& json) const {
  if (Result<void> fits = load::check_config(info_.config_schema, json); !fits)
    return {.status = KOORD_E_INVALID, .text = "the configuration does not fit the schema: " + fits.error().message()};
  return {};
}

service::CallResult Player::start() {
  if (service::CallResult fits = check_config(role_.config_json); !fits.ok()) return fits;
  if (service::CallResult created = runner_->create(); !created.ok()) return created;
  if (service::CallResult result = runner_->init(); !result.ok()) {
    runner_->destroy();
    return result;
  }
  initialised_ = true;
  if (!info_.runs) return {};
  run_thread_ = std::make_unique<RunThread>();
  run_thread_->thread = std::thread([runner = runner_.get(), run_thread = run_thread_.get()] {
    service::CallResult result = runner->run(run_thread->stop);
    std::lock_guard lock(run_thread->mutex);
    run_thread->result = std::move(result);
    run_thread->returned.notify_all();
  });
  return {};
}

service::CallResult Player::tick(Time now, Time deadline) {
  if (!info_.ticks) return {};
  return info_.kind == "koord.qos-strategy/1" ? runner_->evaluate(now, deadline) : runner_->collect(now, deadline);
}

service::CallResult Player::configure(const std::string& json) {
  if (service::CallResult fits = check_config(json); !fits.ok()) return fits;
  const std::string old = context_->config()->text();
  if (Result<void> taken = context_->set_config_json(json); !taken)
    return {.status = KOORD_E_INVALID, .text = taken.error().message()};
  service::CallResult result = runner_->on_event(KOORD_ON_CONFIG, ++config_version_);
  if (!result.ok()) [[maybe_unused]]
    Result<void> kept = context_->set_config_json(old);
  return result;
}

service::CallResult Player::await_run(Duration patience) {
  if (!run_thread_) return {};
  run_thread_->stop.fire();
  {
    std::unique_lock lock(run_thread_->mutex);
    if (!run_thread_->returned.wait_for(lock, patience, [&] { return run_thread_->result.has_value(); }))
      return {.status = KOORD_E_DEADLINE,
              .text = "run() has not returned within " + format_duration(patience) + " of the stop signal"};
  }
  run_thread_->thread.join();
  return *std::move(run_thread_->result);
}

service::CallResult Player::end(Duration patience) {
  if (!std::exchange(initialised_, false)) return {};
  service::CallResult result = runner_->stop();
  service::CallResult ran = await_run(patience);
  if (run_thread_ && run_thread_->thread.joinable()) {  // run() has not returned, and may still use these objects
    run_thread_->thread.detach();
    [[maybe_unused]] const void* kept[] = {run_thread_.release(), runner_.release(), context_.release()};
    return ran;
  }
  keep_first_failure(result, std::move(ran));
  keep_first_failure(result, runner_->destroy());
  return result;
}

}  // namespace koord::workshop
