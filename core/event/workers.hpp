// SPDX-License-Identifier: Apache-2.0
// Workers: the threads and the queue behind a WorkerPool, shared with its strands and with threads that are
// left behind. A thread is serving, or stuck: given up by a strand in the middle of a task. A stuck thread is
// abandoned when another took its place. Inside core/event only. [any thread]
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "core/event/task.hpp"
#include "core/event/watchdog.hpp"

namespace koord::event {

using WorkerId = std::uint64_t;

class Workers : public std::enable_shared_from_this<Workers> {
 public:
  explicit Workers(std::size_t max_written_off) : max_written_off_(max_written_off) {}

  void start(std::size_t threads);

  // False once end() is through: the task will never run.
  bool post(Task task);

  // Runs what is queued, ends the serving threads and leaves the stuck ones behind.
  void end();

  // Returns the id of the worker that runs on the calling thread; 0: the thread is not a worker.
  static WorkerId current();

  // Gives up a worker that is in a task and cannot leave it during the call.
  void give_up(WorkerId worker);

  std::size_t serving() const;
  std::size_t written_off() const;
  Watchdog& watchdog() { return watchdog_; }

 private:
  enum class State : std::uint8_t { serving, stuck, written_off };
  struct Worker {
    State state = State::serving;
    std::thread thread;
  };

  void start_one();
  void serve(WorkerId self);
  bool back_from_task(WorkerId self);

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable ended_one_;
  std::deque<Task> queue_;
  std::map<WorkerId, Worker> workers_;
  const std::size_t max_written_off_;
  std::size_t serving_ = 0;
  std::size_t written_off_ = 0;
  WorkerId last_id_ = 0;
  bool ending_ = false;
  bool ended_ = false;
  Watchdog watchdog_;
};

}  // namespace koord::event
