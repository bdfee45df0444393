// SPDX-License-Identifier: Apache-2.0
// Puppet: the hand over a puppet plugin (plugins/puppet.cpp). Says what its functions do and knows what was
// called.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "test/core/load/plugins/puppet.hpp"

namespace koord::test {

// Long enough for the slowest machine; a test that waits so long has failed.
inline constexpr std::chrono::seconds kLongEnough{30};

class Puppet {
 public:
  using Action = std::function<koord_status(const PuppetCall&)>;

  // Maps the file, as the host will; must be called before the plugin is started.
  explicit Puppet(const std::string& path);
  ~Puppet();
  Puppet(const Puppet&) = delete;
  Puppet& operator=(const Puppet&) = delete;

  // Sets the behaviour of this function; the default: nothing, KOORD_OK.
  void on(const std::string& call, Action action);

  std::vector<std::string> calls() const;
  std::size_t count(const std::string& call) const;
  // Waits until the function was called this many times; false when it never was.
  bool await(const std::string& call, std::size_t times = 1);

 private:
  struct State;
  State& state_;  // stays when the puppet goes: a call may be in flight
};

// A door that a call waits at until the test opens it. A copy is the same door: a call that is left behind
// takes one.
class Door {
 public:
  void open() const { opened_->set_value(); }
  void pass() const { open_.wait(); }

 private:
  std::shared_ptr<std::promise<void>> opened_ = std::make_shared<std::promise<void>>();
  std::shared_future<void> open_ = opened_->get_future();
};

}  // namespace koord::test
