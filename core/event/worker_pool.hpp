// SPDX-License-Identifier: Apache-2.0
// WorkerPool: a few threads for tasks that may block. A thread that is stuck in a strand's task past its
// limit is abandoned: a new one replaces it, up to a bound, so that a hung plugin costs a thread and not
// the agent. A thread that returns from such a task ends, or serves again if it was not replaced.
#pragma once

#include <cstddef>
#include <memory>

#include "core/event/task.hpp"

namespace koord::event {

class Workers;

class WorkerPool {
 public:
  explicit WorkerPool(std::size_t threads, std::size_t max_written_off = 4);

  // Runs what is queued, then ends the threads. Threads stuck in a wedged task are left behind, not waited
  // for.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // [any] Queues the task for the next free thread.
  void post(Task task);

  // [any] The threads that serve the queue now; below what was asked for once too many were abandoned.
  std::size_t size() const;

  // [any] The threads that are stuck in a wedged task and were replaced.
  std::size_t written_off() const;

 private:
  friend class Strand;
  std::shared_ptr<Workers> workers_;
};

}  // namespace koord::event
