// SPDX-License-Identifier: Apache-2.0
// The state shared by a strand, the worker that runs its task and the watchdog. It may outlive the strand
// when a task is stuck. Locks are taken in the order strand, workers, watchdog; no task and no callback runs
// under one. Inside core/event only. [any thread]
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/event/strand.hpp"
#include "core/event/workers.hpp"

namespace koord::event {

class Strand::State : public std::enable_shared_from_this<Strand::State> {
 public:
  struct Job {
    Task task;
    Limits limits;
    OnOverrun on_overrun;
  };

  State(std::shared_ptr<Workers> workers, std::string name) : name_(std::move(name)), workers_(std::move(workers)) {}

  bool post(Job job);
  void close();

  bool busy() const;
  std::size_t pending() const;
  bool wedged() const;
  bool in_strand() const;
  const std::string& name() const { return name_; }

 private:
  // The task that a worker is in.
  struct Run {
    std::uint64_t id = 0;
    WorkerId worker = 0;
    std::thread::id thread;
    Watchdog::Clock::time_point start;
    Limits limits;
    OnOverrun on_overrun;
    std::optional<Watchdog::AlarmId> alarm;
  };

  bool schedule();
  void run_next();
  std::optional<Task> begin();
  void finish();
  void set_alarm(Overrun kind);
  void on_alarm(std::uint64_t run, Overrun kind);
  bool runs_here() const { return running_ && running_->thread == std::this_thread::get_id(); }

  const std::string name_;
  const std::shared_ptr<Workers> workers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;
  std::optional<Run> running_;
  std::uint64_t last_run_ = 0;
  std::size_t callbacks_ = 0;  // overruns being reported now
  bool scheduled_ = false;     // run_next() is queued or runs
  bool wedged_ = false;
  bool closed_ = false;
};

}  // namespace koord::event
