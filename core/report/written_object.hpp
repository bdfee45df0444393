// SPDX-License-Identifier: Apache-2.0
// WrittenObject: passes the API server's object after our own write from the loop to the worker that computes the next
// write. [any thread]
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace koord::report {

class WrittenObject {
 public:
  using Ptr = std::shared_ptr<const std::string>;

  void set(Ptr object) {
    std::lock_guard lock(mutex_);
    object_ = std::move(object);
  }
  void set(std::string object) { set(std::make_shared<const std::string>(std::move(object))); }

  // Returns the newest object; null if nothing was written since the last call.
  Ptr take() {
    std::lock_guard lock(mutex_);
    return std::exchange(object_, nullptr);
  }

 private:
  std::mutex mutex_;
  Ptr object_;
};

}  // namespace koord::report
