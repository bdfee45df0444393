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
  std::vector<std::string> granted = host::granted_services(kind);
  return {granted.begin(), granted.end()};
}

void keep_first_failure(host::CallResult& so_far, host::CallResult next) {
  if (so_far.ok()) so_far = std::move(next);
}

}  // namespace

Result<std::size_t> find_class(const host::LoadedPlugin& plugin, std::string_view name) {
  std::vector<std::string> names;
  for (const host::ClassInfo& info : plugin.classes()) {
    if (name.empty() || info.name == name) return names.size();
    names.push_back(info.name);
  }
  return invalid("no class '" + std::string(name) + "', the plugin has " + join(names, ", "));
}

// run() on its thread.
struct Player::Runner {
  host::StopSignal stop;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable returned;
  std::optional<host::CallResult> result;
};

Player::Player(Stage& stage, Role role)
    : role_(std::move(role)),
      info_(role_.plugin->classes()[role_.class_index]),
      context_(stage.make_context(role_.plugin_id, grants_of(info_.kind), role_.config_json, role_.rights)),
      home_(role_.plugin->make_home(role_.class_index, *context_, role_.limits)) {}

Player::~Player() {
  end();
}

host::CallResult Player::check_config(const std::string& json) const {
  if (Result<void> fits = host::check_config(info_.config_schema, json); !fits)
    return {.status = KOORD_E_INVALID, .text = "the configuration does not fit the schema: " + fits.error().message()};
  return {};
}

host::CallResult Player::start() {
  if (host::CallResult fits = check_config(role_.config_json); !fits.ok()) return fits;
  if (host::CallResult created = home_->create(); !created.ok()) return created;
  if (host::CallResult result = home_->init(); !result.ok()) {
    home_->destroy();
    return result;
  }
  initialised_ = true;
  if (!info_.runs) return {};
  runner_ = std::make_unique<Runner>();
  runner_->thread = std::thread([home = home_.get(), runner = runner_.get()] {
    host::CallResult result = home->run(runner->stop);
    std::lock_guard lock(runner->mutex);
    runner->result = std::move(result);
    runner->returned.notify_all();
  });
  return {};
}

host::CallResult Player::tick(Time now, Time deadline) {
  if (!info_.ticks) return {};
  return info_.kind == "koord.qos-strategy/1" ? home_->evaluate(now, deadline) : home_->collect(now, deadline);
}

host::CallResult Player::configure(const std::string& json) {
  if (host::CallResult fits = check_config(json); !fits.ok()) return fits;
  const std::string old = context_->config()->text();
  if (Result<void> taken = context_->set_config_json(json); !taken)
    return {.status = KOORD_E_INVALID, .text = taken.error().message()};
  host::CallResult result = home_->on_event(KOORD_ON_CONFIG, ++config_version_);
  if (!result.ok()) [[maybe_unused]] Result<void> kept = context_->set_config_json(old);
  return result;
}

host::CallResult Player::await_runner(Duration patience) {
  if (!runner_) return {};
  runner_->stop.fire();
  {
    std::unique_lock lock(runner_->mutex);
    if (!runner_->returned.wait_for(lock, patience, [&] { return runner_->result.has_value(); }))
      return {.status = KOORD_E_DEADLINE, .text = "run() has not returned within " + format_duration(patience) + " of the stop signal"};
  }
  runner_->thread.join();
  return *std::move(runner_->result);
}

host::CallResult Player::end(Duration patience) {
  if (!std::exchange(initialised_, false)) return {};
  host::CallResult result = home_->stop();
  host::CallResult ran = await_runner(patience);
  if (runner_ && runner_->thread.joinable()) {  // it runs, and may touch all of this
    runner_->thread.detach();
    [[maybe_unused]] const void* kept[] = {runner_.release(), home_.release(), context_.release()};
    return ran;
  }
  keep_first_failure(result, std::move(ran));
  keep_first_failure(result, home_->destroy());
  return result;
}

}  // namespace koord::workshop
