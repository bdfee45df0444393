// SPDX-License-Identifier: Apache-2.0
#include "core/event/timer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/event/timer_state.hpp"

namespace koord::event {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A shorter period is a mistake and would be a busy loop. A period longer than kLongest would overflow the clock.
constexpr Duration kShortestPeriod = std::chrono::milliseconds(1);
constexpr Duration kLongest = std::chrono::hours(24 * 365 * 10);

// Returns the first tick after `now` that is a whole number of periods after `last`.
SteadyClock::time_point next_tick(SteadyClock::time_point last, Duration period, SteadyClock::time_point now) {
  if (now < last + period) return last + period;
  return last + ((now - last) / period + 1) * period;
}

}  // namespace

std::shared_ptr<Timer::State> Timer::State::start_once(boost::asio::io_context& context, Duration delay, Task task) {
  auto state = std::make_shared<State>(context, std::move(task));
  state->timer.expires_after(std::clamp(delay, Duration::zero(), kLongest));
  state->wait();
  return state;
}

std::shared_ptr<Timer::State> Timer::State::start_periodic(boost::asio::io_context& context, Duration period,
                                                           Task task) {
  auto state = std::make_shared<State>(context, std::move(task));
  state->period = std::clamp(period, kShortestPeriod, kLongest);
  state->timer.expires_after(state->period);
  state->wait();
  return state;
}

void Timer::State::wait() {
  timer.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error && !self->cancelled) self->fire();
  });
}

// Starts the next wait before the task runs, because the task may destroy the timer.
void Timer::State::fire() {
  if (period > Duration::zero()) {
    timer.expires_at(next_tick(timer.expiry(), period, SteadyClock::now()));
    wait();
  }
  task();
}

// A wait that has ended may be queued to run after the caller, and cannot be cancelled any more. The flag stops its
// task.
void Timer::State::cancel() {
  cancelled = true;
  timer.cancel();
}

Timer::Timer(std::shared_ptr<State> state) : state_(std::move(state)) {}

Timer::~Timer() { state_->cancel(); }

}  // namespace koord::event
