// SPDX-License-Identifier: Apache-2.0
// The state shared by a timer and its pending wait. Inside core/event only: it includes Asio.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "core/base/clock.hpp"
#include "core/event/task.hpp"
#include "core/event/timer.hpp"

namespace koord::event {

struct Timer::State : std::enable_shared_from_this<Timer::State> {
  static std::shared_ptr<State> start_once(boost::asio::io_context& context, Duration delay, Task task);
  static std::shared_ptr<State> start_periodic(boost::asio::io_context& context, Duration period, Task task);

  State(boost::asio::io_context& context, Task t) : timer(context), task(std::move(t)) {}

  void wait();
  void fire();
  void cancel();

  boost::asio::steady_timer timer;
  Task task;
  Duration period{};  // zero: once
  bool cancelled = false;
};

}  // namespace koord::event
