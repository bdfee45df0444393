// SPDX-License-Identifier: Apache-2.0
#include "core/event/loop.hpp"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <list>
#include <string>
#include <thread>
#include <utility>

#include "core/event/fd_watch_state.hpp"
#include "core/event/timer_state.hpp"

namespace koord::event {
namespace asio = boost::asio;

namespace {

// The concurrency hint for Asio. With the hint 1, Asio would run tasks that the loop thread posts after tasks that
// other threads post later. This would violate the order of posting.
constexpr int kKeepsOrder = 2;

struct SignalHandler {
  SignalHandler(asio::io_context& context, Task t) : signals(context), task(std::move(t)) {}

  void wait() {
    signals.async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      wait();
      task();
    });
  }

  asio::signal_set signals;
  Task task;
};

}  // namespace

struct Loop::State {
  asio::io_context context{kKeepsOrder};
  asio::executor_work_guard<asio::io_context::executor_type> keep_running = asio::make_work_guard(context);
  std::list<SignalHandler> signal_handlers;
  std::atomic<std::thread::id> thread{};
};

Loop::Loop() : state_(std::make_unique<State>()) {}

Loop::~Loop() = default;

void Loop::run() {
  state_->thread = std::this_thread::get_id();
  state_->context.run();
  state_->thread = std::thread::id();
  state_->context.restart();
}

void Loop::stop() { state_->context.stop(); }

void Loop::post(Task task) { asio::post(state_->context, std::move(task)); }

bool Loop::in_loop_thread() const { return state_->thread.load() == std::this_thread::get_id(); }

std::unique_ptr<Timer> Loop::every(Duration period, Task task) {
  return std::make_unique<Timer>(Timer::State::start_periodic(state_->context, period, std::move(task)));
}

std::unique_ptr<Timer> Loop::after(Duration delay, Task task) {
  return std::make_unique<Timer>(Timer::State::start_once(state_->context, delay, std::move(task)));
}

Result<void> Loop::on_signal(int signal, Task task) {
  SignalHandler& handler = state_->signal_handlers.emplace_back(state_->context, std::move(task));
  boost::system::error_code error;
  handler.signals.add(signal, error);
  if (error) {
    state_->signal_handlers.pop_back();
    return system_error(error.value(), "cannot handle signal " + std::to_string(signal));
  }
  handler.wait();
  return {};
}

Result<std::unique_ptr<FdWatch>> Loop::on_readable(int fd, Task task) {
  return std::make_unique<FdWatch>(
      TRY(FdWatch::State::start(state_->context, fd, FdWatch::State::Ready::wait_read, std::move(task))));
}

Result<std::unique_ptr<FdWatch>> Loop::on_writable(int fd, Task task) {
  return std::make_unique<FdWatch>(
      TRY(FdWatch::State::start(state_->context, fd, FdWatch::State::Ready::wait_write, std::move(task))));
}

}  // namespace koord::event
