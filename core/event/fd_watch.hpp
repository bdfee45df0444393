// SPDX-License-Identifier: Apache-2.0
// FdWatch: a task that the loop runs whenever a descriptor is readable, or writable, as long as it stays so.
// Made by Loop::on_readable and Loop::on_writable; a descriptor has one watch at a time. It is borrowed: it
// must stay open until the watch is destroyed, which ends the watching and may be done by the task itself.
// [loop thread; destroy it before the loop]
#pragma once

#include <memory>

namespace koord::event {

class FdWatch {
 public:
  struct State;
  explicit FdWatch(std::shared_ptr<State> state);
  ~FdWatch();
  FdWatch(const FdWatch&) = delete;
  FdWatch& operator=(const FdWatch&) = delete;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace koord::event
