// SPDX-License-Identifier: Apache-2.0
#include "core/event/watchdog.hpp"

#include "core/event/thread_name.hpp"

namespace koord::event {

Watchdog::Watchdog() : thread_([this] { run(); }) {}

Watchdog::~Watchdog() { stop(); }

// Wakes the thread only if the alarm is due before the alarm that the thread waits for. The thread does not notice
// disarmed alarms, so it sometimes wakes for nothing. That costs less than two wake-ups for each task.
Watchdog::AlarmId Watchdog::arm(Clock::time_point due, Task alarm) {
  std::lock_guard lock(mutex_);
  const AlarmId id{due, ++last_id_};
  if (stopping_) return id;
  alarms_.emplace(id, std::move(alarm));
  if (due < wakes_at_) earlier_.notify_one();
  return id;
}

// Destroys the captures of the alarm after the lock is released, because a destructor may call this class.
void Watchdog::disarm(const AlarmId& id) {
  std::map<AlarmId, Task>::node_type removed;
  std::lock_guard lock(mutex_);
  removed = alarms_.extract(id);
}

void Watchdog::stop() {
  std::map<AlarmId, Task> dropped;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(alarms_);
    earlier_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Watchdog::run() {
  name_this_thread("koord-watchdog");
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    wakes_at_ = alarms_.empty() ? Clock::time_point::max() : alarms_.begin()->first.first;
    if (alarms_.empty()) {
      earlier_.wait(lock);
    } else if (wakes_at_ > Clock::now()) {
      earlier_.wait_until(lock, wakes_at_);
    } else {
      auto due = alarms_.extract(alarms_.begin());
      lock.unlock();
      due.mapped()();
      due = {};
      lock.lock();
    }
  }
}

}  // namespace koord::event
