// SPDX-License-Identifier: Apache-2.0
// Something measured in a forked child, with its result in memory that both share. For programs without further
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "core/base/result.hpp"

namespace koord::workshop {

// How many system calls a traced child and all processes and threads below it began while `counting` was set.
struct CountedCalls {
  std::atomic<bool> counting;
  std::atomic<std::uint64_t> calls;
};

// Memory of zeros that a child shares with its parent.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t size);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void* address() const { return address_; }

 private:
  void* address_;
  std::size_t size_;
};

// The work's error, or how the child ended instead.
Result<void> run_in_child(const std::function<Result<void>()>& work);
Result<void> run_in_traced_child(const std::function<Result<void>()>& work, CountedCalls& counted);

template <class Value>
class MeasuredChild {
 public:
  Result<void> run(const std::function<Result<void>(Value&)>& work) {
    return run_in_child([&] { return work(value()); });
  }
  Result<void> run_traced(const std::function<Result<void>(Value&)>& work) {
    return run_in_traced_child([&] { return work(value()); }, value());
  }
  Value& value() { return *static_cast<Value*>(memory_.address()); }

 private:
  static_assert(std::is_trivially_destructible_v<Value>);
  SharedMemory memory_{sizeof(Value)};
};

}  // namespace koord::workshop
