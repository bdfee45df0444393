// SPDX-License-Identifier: Apache-2.0
#include "core/host/supervisor.hpp"

#include <algorithm>
#include <utility>

#include "core/base/parse.hpp"
#include "core/host/schedule.hpp"

namespace koord::host {
namespace {

// Time for stop(), the end of run() and destroy() together, in the agent's process.
constexpr Duration kStopPatience = std::chrono::seconds(5);

}  // namespace

Duration wedged_after(Duration deadline) {
  return deadline + std::clamp<Duration>(9 * deadline, std::chrono::seconds(10), std::chrono::minutes(1));
}

std::shared_ptr<Supervisor> Supervisor::make(Parts parts, Instance::Parts instance, std::string config_json,
                                             Pace pace) {
  std::shared_ptr<Supervisor> self(new Supervisor(std::move(parts), pace));
  instance.on_change = [weak = std::weak_ptr(self), &loop = self->parts_.loop,
                        changed = self->parts_.changed](PluginState state) {
    loop.post([weak, state] {
      if (std::shared_ptr<Supervisor> supervisor = weak.lock()) supervisor->on_state(state);
    });
    changed();
  };
  instance.on_status = self->parts_.changed;
  self->instance_ = Instance::make(
      std::move(instance),
      {.deadline = pace.deadline, .wedged_after = wedged_after(pace.deadline), .config_json = std::move(config_json)});
  return self;
}

Supervisor::Supervisor(Parts parts, Pace pace)
    : parts_(std::move(parts)), pace_(pace), period_ns_(pace.period.count()) {}

void Supervisor::start() {
  if (std::exchange(wanted_, true)) return;
  policy_ = RestartPolicy(parts_.restart_delay);
  parked_ = false;
  instance_->start();
}

void Supervisor::stop() {
  wanted_ = false;
  restart_.reset();
  end_ticks();
  instance_->stop();
}

void Supervisor::restart() {
  if (wanted_) instance_->stop();  // on_state() starts it again
}

void Supervisor::release_ticks() {
  if (std::exchange(held_, false) && instance_->state() == PluginState::running) on_running();
}

void Supervisor::reconfigure(const std::string& config_json) {
  instance_->reconfigure(config_json);
  // Whether this node supports the plugin may depend on the configuration.
  if (wanted_ && instance_->state() == PluginState::absent) instance_->start();
}

void Supervisor::set_pace(Pace pace) {
  instance_->set_limits(pace.deadline, wedged_after(pace.deadline));
  bool other_period = pace.period != std::exchange(pace_, pace).period;
  period_ns_ = slowed_period().count();
  if (other_period && (ticks_ != nullptr || first_tick_ != nullptr)) begin_ticks();
}

void Supervisor::set_slowdown(unsigned times) {
  if (std::exchange(slowdown_, times) == times) return;
  period_ns_ = slowed_period().count();
  if (ticks_ != nullptr || first_tick_ != nullptr) begin_ticks();
}

void Supervisor::on_state(PluginState state) {
  if (state == PluginState::running) return on_running();
  if (state == PluginState::loaded || state == PluginState::created || state == PluginState::initialised) return;
  end_ticks();
  if (state == PluginState::stopping) {
    grace_ = parts_.loop.after(kStopGrace, [this] { instance_->end_process(); });
    patience_ = parts_.loop.after(kStopPatience, [this] {
      instance_->write_off("has not returned within " + format_duration(kStopPatience) + " of the stop");
    });
    return;
  }
  grace_.reset();
  patience_.reset();
  if (state == PluginState::failed) return on_failed();
  // The instance was stopped for a different configuration, or was switched off and on again while it stopped.
  if (state == PluginState::stopped && wanted_) instance_->start();
}

void Supervisor::on_running() {
  if (!wanted_ || held_ || pace_.period <= Duration::zero()) return;
  instance_->tick();
  begin_ticks();
}

void Supervisor::on_failed() {
  if (!wanted_) return;
  std::optional<Duration> delay = policy_.failed(parts_.clock.now());
  if (!delay) {
    parked_ = true;
    parts_.changed();
    return;
  }
  restart_ = parts_.loop.after(*delay, [this] {
    ++restarts_;
    instance_->start();
  });
}

void Supervisor::begin_ticks() {
  end_ticks();
  const Duration period = slowed_period();
  Duration delay = delay_to_tick(parts_.clock.now(), period, tick_phase(period, parts_.nth));
  first_tick_ = parts_.loop.after(delay, [this, period] {
    ticks_ = parts_.loop.every(period, [this] { instance_->tick(); });
    instance_->tick();
  });
}

void Supervisor::end_ticks() {
  first_tick_.reset();
  ticks_.reset();
}

InstanceStatus Supervisor::status() const {
  InstanceStatus status = instance_->status();
  if (parked_ && status.state == PluginState::failed) {
    status.state = PluginState::parked;
    status.reason = "failed " + std::to_string(RestartPolicy::kMaxFailures) + " times in " +
                    format_duration(RestartPolicy::kWindow) + ", last: " + status.reason;
  }
  return status;
}

}  // namespace koord::host
