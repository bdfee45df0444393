// SPDX-License-Identifier: Apache-2.0
#include "core/child/spawner.hpp"

#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>

namespace koord::child {
namespace {

class Spawner {
 public:
  Spawner() {
    // Blocks all signals in the thread, which inherits the mask: other threads handle the agent's signals.
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

 private:
  [[noreturn]] void serve() {
    ::pthread_setname_np(::pthread_self(), "spawner");
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
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
};

}  // namespace

int run_on_spawner(const std::function<int()>& work) {
  static auto& spawner = *new Spawner;  // never destroyed: its thread runs until the process ends
  return spawner.run(work);
}

}  // namespace koord::child
