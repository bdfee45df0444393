// SPDX-License-Identifier: Apache-2.0
// Watchdog: a thread that sleeps until the next alarm is due and calls it, unless it was disarmed in time.
// Inside core/event only. [any thread]
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "core/event/task.hpp"

namespace koord::event {

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;
  // When an alarm is due, and which of those.
  using AlarmId = std::pair<Clock::time_point, std::uint64_t>;

  Watchdog();
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  AlarmId arm(Clock::time_point due, Task alarm);

  // The alarm may be running already: the caller must be able to detect that disarm() came too late.
  void disarm(const AlarmId& id);

  // Drops the alarms and ends the thread. Not from an alarm.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable earlier_;
  std::map<AlarmId, Task> alarms_;
  Clock::time_point wakes_at_ = Clock::time_point::max();
  std::uint64_t last_id_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace koord::event
