// SPDX-License-Identifier: Apache-2.0
#include "core/child/spawner.hpp"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/child/await_end.hpp"

namespace koord::child {
namespace {

constexpr std::chrono::seconds kReapPeriod{1};

struct DyingChild {
  // Returns whether it has ended and is reaped.
  bool reap() const { return await_end(pid, pidfd.get(), 0) && ::waitpid(pid, nullptr, WNOHANG) != 0; }

  pid_t pid;
  UniqueFd pidfd;
};

class Spawner {
 public:
  Spawner() {
    // Blocks all signals in the new thread, which inherits this mask, because other threads handle the agent's signals.
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { serve(); }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  int run(const std::function<int()>& work) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return work_ == nullptr && !result_; });
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return result_.has_value(); });
    const int result = *result_;
    result_.reset();
    changed_.notify_all();
    return result;
  }

  void add(DyingChild child) {
    std::lock_guard lock(mutex_);
    dying_.push_back(std::move(child));
    changed_.notify_all();
  }

 private:
  // Waits for work. Meanwhile reaps the children that have ended.
  void await_work(std::unique_lock<std::mutex>& lock) {
    while (work_ == nullptr) {
      if (dying_.empty())
        changed_.wait(lock);
      else
        changed_.wait_for(lock, kReapPeriod);
      std::erase_if(dying_, [](const DyingChild& child) { return child.reap(); });
    }
  }

  [[noreturn]] void serve() {
    ::pthread_setname_np(::pthread_self(), "spawner");
    std::unique_lock lock(mutex_);
    for (;;) {
      await_work(lock);
      const std::function<int()>& work = *work_;
      lock.unlock();
      const int result = work();
      lock.lock();
      work_ = nullptr;
      result_ = result;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<int()>* work_ = nullptr;
  std::optional<int> result_;
  std::vector<DyingChild> dying_;
};

Spawner& the_spawner() {
  static auto& spawner = *new Spawner;  // never destroyed, because its thread runs until the process ends
  return spawner;
}

}  // namespace

int run_on_spawner(const std::function<int()>& work) { return the_spawner().run(work); }

void reap_later(pid_t pid, UniqueFd pidfd) { the_spawner().add({pid, std::move(pidfd)}); }

}  // namespace koord::child
