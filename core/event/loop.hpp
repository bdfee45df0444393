// SPDX-License-Identifier: Apache-2.0
// Loop: the one thread that does the agent's I/O, timers and signals. Whatever blocks goes to a WorkerPool
// and posts its result back. Functions marked [any] may be called from any thread, [loop] from the thread in
// run() or before it runs.
#pragma once

#include <memory>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/event/fd_watch.hpp"
#include "core/event/task.hpp"
#include "core/event/timer.hpp"

namespace koord::event {

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs what is posted, due and ready until stop(); the calling thread is the loop thread meanwhile. May be
  // called again after it returned.
  void run();

  // [any] Makes run() return after the task that runs now; what is still posted waits for the next run().
  void stop();

  // [any] Runs the task on the loop thread, later, in the order posted.
  void post(Task task);

  // [any]
  bool in_loop_thread() const;

  // [loop] Runs the task every `period`, the first time one period from now. Ticks keep their phase; those
  // that a busy loop misses are skipped, never made up for. A period below 1 ms counts as 1 ms.
  std::unique_ptr<Timer> every(Duration period, Task task);

  // [loop] Runs the task once.
  std::unique_ptr<Timer> after(Duration delay, Task task);

  // [loop] Runs the task whenever the process gets this signal, in place of the signal's default action.
  Result<void> on_signal(int signal, Task task);

  // [loop] Fails for a descriptor that cannot be polled, such as a regular file.
  Result<std::unique_ptr<FdWatch>> on_readable(int fd, Task task);
  Result<std::unique_ptr<FdWatch>> on_writable(int fd, Task task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace koord::event
