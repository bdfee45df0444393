// SPDX-License-Identifier: Apache-2.0
// SloWatch: logs each invalid value of the NodeSLO once. [loop thread]
#pragma once

#include <memory>
#include <string>

#include "core/base/problem_tracker.hpp"
#include "core/event/loop.hpp"
#include "core/event/timer.hpp"
#include "core/state/hub.hpp"

namespace koord::agentd {

class SloWatch {
 public:
  explicit SloWatch(const state::Hub& hub) : hub_(hub) {}

  // Checks for a new NodeSLO once a second until destroyed or stopped.
  void start(event::Loop& loop);
  void stop() { timer_.reset(); }

 private:
  void poll();

  const state::Hub& hub_;
  std::shared_ptr<const std::string> seen_;  // the last checked NodeSLO, as received
  ProblemTracker problems_;
  std::unique_ptr<event::Timer> timer_;
};

}  // namespace koord::agentd
