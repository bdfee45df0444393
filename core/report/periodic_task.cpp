// SPDX-License-Identifier: Apache-2.0
#include "core/report/periodic_task.hpp"

#include <utility>

namespace koord::report {

PeriodicTask::PeriodicTask(event::Loop& loop, event::WorkerPool& workers, std::string name, Duration period, Find find)
    : loop_(loop), period_(period), find_(std::move(find)), strand_(workers, std::move(name)) {}

void PeriodicTask::start() {
  timer_ = loop_.every(period_, [this] { poll(); });
  poll();
}

void PeriodicTask::stop() {
  timer_.reset();
  *alive_ = false;
}

void PeriodicTask::poll() {
  if (is_polling_) return;
  is_polling_ = strand_.post([this, alive = alive_] {
    loop_.post([this, alive, follow_up = find_()] {
      if (!*alive) return;
      is_polling_ = false;
      follow_up();
    });
  });
}

}  // namespace koord::report
