// SPDX-License-Identifier: Apache-2.0
// Puppet: the control of a puppet plugin (plugins/puppet.cpp). Sets the behaviour of its functions and counts their
// calls.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "test/core/load/plugins/puppet.hpp"

namespace koord::test {

// Long enough for the slowest machine. A test that reaches this limit has failed.
inline constexpr std::chrono::seconds kLongEnough{30};

class Puppet {
 public:
  using Action = std::function<koord_status(const PuppetCall&)>;

  // Maps the file as the host will do. Must be called before the plugin is started.
  explicit Puppet(const std::string& path);
  ~Puppet();
  Puppet(const Puppet&) = delete;
  Puppet& operator=(const Puppet&) = delete;

  // Sets the behaviour of this function. Default: it returns KOORD_OK.
  void on(const std::string& call, Action action);

  std::vector<std::string> calls() const;
  std::size_t count(const std::string& call) const;
  // Waits until the function was called this many times; false if the time limit ends first.
  bool await(const std::string& call, std::size_t times = 1);

 private:
  struct State;
  State& state_;  // outlives the puppet, because a call may be in progress
};

// A door at which a call waits until the test opens it. A copy is the same door: an abandoned call keeps a copy.
class Door {
 public:
  void open() const { opened_->set_value(); }
  void pass() const { open_.wait(); }

 private:
  std::shared_ptr<std::promise<void>> opened_ = std::make_shared<std::promise<void>>();
  std::shared_future<void> open_ = opened_->get_future();
};

}  // namespace koord::test
