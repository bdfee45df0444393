// SPDX-License-Identifier: Apache-2.0
// Timer: a task that the loop runs later, once or again and again, on the monotonic clock. Made by
// Loop::after and Loop::every. Destroying it cancels it: once the destructor has returned, the task runs no
// more. It may be destroyed by its own task. [loop thread; destroy it before the loop]
#pragma once

#include <memory>

namespace koord::event {

class Timer {
 public:
  struct State;
  explicit Timer(std::shared_ptr<State> state);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace koord::event
