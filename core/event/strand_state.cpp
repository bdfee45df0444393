// SPDX-License-Identifier: Apache-2.0
#include "core/event/strand_state.hpp"

#include <utility>

namespace koord::event {

bool Strand::State::post(Job job) {
  {
    std::lock_guard lock(mutex_);
    if (wedged_ || closed_) return false;
    queue_.push_back(std::move(job));
    if (std::exchange(scheduled_, true)) return true;
  }
  return schedule();
}

// Queues the strand in the pool. If the pool has ended, closes the strand, because the pool runs no more tasks.
bool Strand::State::schedule() {
  if (workers_->post([self = shared_from_this()] { self->run_next(); })) return true;
  std::deque<Job> never_run;
  std::lock_guard lock(mutex_);
  closed_ = true;
  scheduled_ = false;
  never_run.swap(queue_);
  return false;
}

// Runs one task, then queues the strand again at the end of the pool's queue. So a busy strand does not starve the
// other strands.
void Strand::State::run_next() {
  if (std::optional<Task> task = begin()) {
    (*task)();
    *task = nullptr;
    finish();
  }
}

std::optional<Task> Strand::State::begin() {
  std::lock_guard lock(mutex_);
  if (queue_.empty()) {
    scheduled_ = false;
    return std::nullopt;
  }
  Job job = std::move(queue_.front());
  queue_.pop_front();
  running_ = Run{.id = ++last_run_,
                 .worker = Workers::current(),
                 .thread = std::this_thread::get_id(),
                 .start = Watchdog::Clock::now(),
                 .limits = job.limits,
                 .on_overrun = std::move(job.on_overrun),
                 .alarm = std::nullopt};
  set_alarm(Overrun::late);
  return std::move(job.task);
}

void Strand::State::finish() {
  std::optional<Run> ended;
  {
    std::lock_guard lock(mutex_);
    ended.swap(running_);
    scheduled_ = !queue_.empty();
    changed_.notify_all();
    if (ended->alarm) workers_->watchdog().disarm(*ended->alarm);
    if (!scheduled_) return;
  }
  schedule();
}

// Arms the next alarm of the running task. The alarm for `late` is left out if the strand wedges first.
void Strand::State::set_alarm(Overrun kind) {
  Run& run = *running_;
  if (kind == Overrun::late && run.limits.deadline >= run.limits.wedged_after) kind = Overrun::wedged;
  const Duration limit = kind == Overrun::late ? run.limits.deadline : run.limits.wedged_after;
  run.alarm.reset();
  if (limit > Watchdog::Clock::time_point::max() - run.start) return;
  run.alarm = workers_->watchdog().arm(run.start + limit,
                                       [self = shared_from_this(), id = run.id, kind] { self->on_alarm(id, kind); });
}

// The worker cannot leave the task meanwhile, because finish() needs the same lock.
void Strand::State::on_alarm(std::uint64_t run, Overrun kind) {
  std::deque<Job> dropped;
  OnOverrun on_overrun;
  {
    std::lock_guard lock(mutex_);
    if (!running_ || running_->id != run) return;
    on_overrun = running_->on_overrun;
    ++callbacks_;
    if (kind == Overrun::late) {
      set_alarm(Overrun::wedged);
    } else {
      wedged_ = true;
      running_->alarm.reset();
      dropped.swap(queue_);
      workers_->give_up(running_->worker);
    }
  }
  if (on_overrun) on_overrun(kind);
  dropped.clear();
  std::lock_guard lock(mutex_);
  --callbacks_;
  changed_.notify_all();
}

void Strand::State::close() {
  {
    std::deque<Job> dropped;
    std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(queue_);
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return callbacks_ == 0 && (!running_ || wedged_ || runs_here()); });
}

bool Strand::State::busy() const {
  std::lock_guard lock(mutex_);
  return running_.has_value();
}

std::size_t Strand::State::pending() const {
  std::lock_guard lock(mutex_);
  return queue_.size();
}

bool Strand::State::wedged() const {
  std::lock_guard lock(mutex_);
  return wedged_;
}

bool Strand::State::in_strand() const {
  std::lock_guard lock(mutex_);
  return runs_here();
}

}  // namespace koord::event
