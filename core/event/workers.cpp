// SPDX-License-Identifier: Apache-2.0
#include "core/event/workers.hpp"

#include <system_error>
#include <utility>

#include "core/event/thread_name.hpp"

namespace koord::event {
namespace {

constinit thread_local WorkerId current_worker = 0;

}  // namespace

WorkerId Workers::current() { return current_worker; }

void Workers::start(std::size_t threads) {
  std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < threads; ++i) start_one();
}

// The thread shares ownership of the workers, because it outlives the pool if it gets stuck.
void Workers::start_one() {
  const WorkerId id = ++last_id_;
  workers_[id].thread = std::thread([self = shared_from_this(), id] { self->serve(id); });
  ++serving_;
}

bool Workers::post(Task task) {
  std::lock_guard lock(mutex_);
  if (ended_) return false;
  queue_.push_back(std::move(task));
  work_.notify_one();
  return true;
}

void Workers::serve(WorkerId self) {
  current_worker = self;
  name_this_thread("koord-worker");
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return !queue_.empty() || ending_; });
    if (queue_.empty()) break;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    if (!back_from_task(self)) return;
  }
  --serving_;
  ended_one_.notify_all();
}

// Returns whether the worker continues to serve. An abandoned thread is not joined, so it detaches itself.
bool Workers::back_from_task(WorkerId self) {
  if (ended_) return false;
  const auto worker = workers_.find(self);
  if (worker->second.state == State::serving) return true;
  if (worker->second.state == State::stuck) {
    worker->second.state = State::serving;
    ++serving_;
    return true;
  }
  --written_off_;
  worker->second.thread.detach();
  workers_.erase(worker);
  return false;
}

void Workers::give_up(WorkerId id) {
  std::lock_guard lock(mutex_);
  const auto worker = workers_.find(id);
  if (worker == workers_.end() || worker->second.state != State::serving) return;
  --serving_;
  worker->second.state = State::stuck;
  ended_one_.notify_all();
  if (written_off_ == max_written_off_) return;
  try {
    start_one();
    worker->second.state = State::written_off;
    ++written_off_;
  } catch (const std::system_error&) {
    workers_.erase(last_id_);  // no thread is available, so the pool continues with fewer
  }
}

void Workers::end() {
  std::map<WorkerId, Worker> left;
  std::deque<Task> never_run;
  {
    std::unique_lock lock(mutex_);
    ending_ = true;
    work_.notify_all();
    ended_one_.wait(lock, [this] { return serving_ == 0; });
    ended_ = true;
    never_run.swap(queue_);
    left.swap(workers_);
  }
  for (auto& [id, worker] : left) {
    if (worker.state == State::serving)
      worker.thread.join();
    else
      worker.thread.detach();
  }
  watchdog_.stop();
}

std::size_t Workers::serving() const {
  std::lock_guard lock(mutex_);
  return serving_;
}

std::size_t Workers::written_off() const {
  std::lock_guard lock(mutex_);
  return written_off_;
}

}  // namespace koord::event
