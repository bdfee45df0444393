// SPDX-License-Identifier: Apache-2.0
// PeriodicTask: once in a period, and on request, runs a function on a worker and its follow-up on the loop. One poll
// at a time: while one is running others are left out. [loop thread]
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/event/loop.hpp"
#include "core/event/strand.hpp"
#include "core/event/worker_pool.hpp"

namespace koord::report {

class PeriodicTask {
 public:
  using FollowUp = std::function<void()>;
  // [worker] Gives what is then to be done on the loop; it is not done after stop().
  using Find = std::function<FollowUp()>;

  // All references must outlive it.
  PeriodicTask(event::Loop& loop, event::WorkerPool& workers, std::string name, Duration period, Find find);
  // Waits for a running poll.
  ~PeriodicTask() { stop(); }

  void start();
  void stop();
  void poll();
  bool is_polling() const { return is_polling_; }

 private:
  event::Loop& loop_;
  const Duration period_;
  const Find find_;
  std::unique_ptr<event::Timer> timer_;
  bool is_polling_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  event::Strand strand_;  // last: it ends first
};

}  // namespace koord::report
