// SPDX-License-Identifier: Apache-2.0
// PeriodicTask: runs a function on a worker once per period and on request, and then its follow-up on the loop. Only
// one poll runs at a time; requests during a poll are ignored. [loop thread]
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
  // [worker] Returns the follow-up, which runs on the loop. It does not run after stop().
  using Find = std::function<FollowUp()>;

  // All references must outlive this object.
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

  event::Strand strand_;  // last member: is destroyed first
};

}  // namespace koord::report
