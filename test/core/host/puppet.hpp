// SPDX-License-Identifier: Apache-2.0
// Puppet: the hand over a puppet plugin (plugins/puppet.cpp). Says what its functions do and knows what was called.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "plugins/puppet.hpp"

namespace koord::test {

// Long enough for the slowest machine; a test that waits so long has failed.
inline constexpr std::chrono::seconds kLongEnough{30};

class Puppet {
 public:
  using Act = std::function<koord_status(const PuppetCall&)>;

  // Maps the file, as the host will; must be called before the plugin is started.
  explicit Puppet(const std::string& path);
  ~Puppet();
  Puppet(const Puppet&) = delete;
  Puppet& operator=(const Puppet&) = delete;

  // What this function does; without it: nothing, KOORD_OK.
  void on(const std::string& call, Act act);

  std::vector<std::string> calls() const;
  std::size_t count(const std::string& call) const;
  // Waits until the function was called so many times; false when it never was.
  bool await(const std::string& call, std::size_t times = 1);

 private:
  koord_status pulled(const PuppetCall& call);

  PuppetStrings* strings_;
  mutable std::mutex mutex_;
  std::condition_variable called_;
  std::map<std::string, Act> acts_;
  std::vector<std::string> calls_;
};

// A door that a call waits at until the test opens it.
class Door {
 public:
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

}  // namespace koord::test
