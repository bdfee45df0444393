// SPDX-License-Identifier: Apache-2.0
// RestartPolicy: when an instance that failed begins again. Waits longer each time, and gives up when it
// failed five times in ten minutes. Pure: the caller says what time it is. [one thread]
#pragma once

#include <deque>
#include <optional>

#include "core/base/clock.hpp"

namespace koord::host {

class RestartPolicy {
 public:
  static constexpr std::size_t kMaxFailures = 5;
  static constexpr Duration kWindow = std::chrono::minutes(10);
  static constexpr Duration kFirstDelay = std::chrono::milliseconds(500);  // it is back within 1 s

  explicit RestartPolicy(Duration first_delay = kFirstDelay) : first_delay_(first_delay) {}

  // It failed now. How long to wait before the next start; nullopt: leave it alone.
  std::optional<Duration> failed(Time now);

 private:
  Duration first_delay_;
  std::deque<Time> failures_;  // those within the window
};

}  // namespace koord::host
