// SPDX-License-Identifier: Apache-2.0
// Supervisor: keeps one instance running as long as it is wanted. Starts it, ticks it on its period, restarts it after
// failures with growing delays, and parks it when that happens too often. [loop thread] except for functions marked
// [any]. Held by shared_ptr: posts of its instance to the loop may come after its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/host/instance.hpp"
#include "core/host/restart_policy.hpp"

namespace koord::host {

class Supervisor : public std::enable_shared_from_this<Supervisor> {
 public:
  struct Parts {
    event::Loop& loop;
    const Clock& clock;
    Duration restart_delay = RestartPolicy::kFirstDelay;
    unsigned nth = 0;               // of all instances: shifts its ticks
    std::function<void()> changed;  // [any] the state did
  };
  struct Pace {
    Duration period{};  // zero: no ticks
    Duration deadline{};
  };

  // `instance` without its on_change, which is the supervisor's.
  static std::shared_ptr<Supervisor> make(Parts parts, Instance::Parts instance, std::string config_json, Pace pace);

  void start();
  void stop();
  // Ends it and starts it again, at once.
  void restart();
  // Until release() it runs without ticks: the one it replaces still has them.
  void hold_ticks() { held_ = true; }
  void release_ticks();
  void reconfigure(const std::string& config_json);
  void set_pace(Pace pace);
  // This many times the period; 1: the period itself.
  void set_slowdown(unsigned times);

  // [any]
  Instance& instance() { return *instance_; }
  const Instance& instance() const { return *instance_; }
  InstanceStatus status() const;
  Duration period() const { return Duration(period_ns_.load(std::memory_order_relaxed)); }
  std::uint64_t restarts() const { return restarts_.load(std::memory_order_relaxed); }

 private:
  explicit Supervisor(Parts parts, Pace pace);

  void on_state(PluginState state);
  void on_running();
  void on_failed();
  void begin_ticks();
  Duration slowed_period() const { return slowdown_ * pace_.period; }
  void end_ticks();

  const Parts parts_;
  std::shared_ptr<Instance> instance_;
  Pace pace_;
  unsigned slowdown_ = 1;
  bool wanted_ = false;
  bool held_ = false;
  RestartPolicy policy_;
  std::unique_ptr<event::Timer> first_tick_;
  std::unique_ptr<event::Timer> ticks_;
  std::unique_ptr<event::Timer> restart_;
  std::unique_ptr<event::Timer> grace_;
  std::unique_ptr<event::Timer> patience_;

  std::atomic<Duration::rep> period_ns_;
  std::atomic<bool> parked_ = false;
  std::atomic<std::uint64_t> restarts_ = 0;
};

// How long a call may take before its thread is given up: well beyond any deadline, so that three misses can
// be counted first.
Duration wedged_after(Duration deadline);

}  // namespace koord::host
