// SPDX-License-Identifier: Apache-2.0
// Strand: runs one owner's tasks on a WorkerPool, in order, one at a time, so that plugin code needs no
// locks; and watches over them. A task past its `deadline` is reported once as late. Past `wedged_after` the
// strand is given up for good: its queue is dropped, post() refuses, and the pool replaces the stuck thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/clock.hpp"
#include "core/event/task.hpp"
#include "core/event/worker_pool.hpp"

namespace koord::event {

enum class Overrun : std::uint8_t { late, wedged };

// Measured on the monotonic clock from the moment the task starts to run. Duration::max() = no limit.
struct Limits {
  Duration deadline = Duration::max();
  Duration wedged_after = Duration::max();
};

// Called on the watchdog's thread, which serves every strand of the pool: it must be short and may post, but
// not destroy a strand. It was decided while the task ran; the task may have ended by the time of the call.
using OnOverrun = std::function<void(Overrun)>;

class Strand {
 public:
  Strand(WorkerPool& pool, std::string name);

  // Drops what is queued and waits for the task that runs, unless it is wedged (what that task uses must then
  // outlive it) or is the one that destroys the strand.
  ~Strand();
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  // [any] Queues the task; false when the strand is wedged or the pool has ended: the task will never run.
  bool post(Task task, Limits limits = {}, OnOverrun on_overrun = {});

  // [any] Whether a task runs now.
  bool busy() const;
  // [any] How many tasks wait behind it.
  std::size_t pending() const;
  // [any] Given up for good.
  bool wedged() const;
  // [any] The caller is a task of this strand.
  bool in_strand() const;
  const std::string& name() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace koord::event
