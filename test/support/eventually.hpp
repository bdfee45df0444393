// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

namespace koord::test {

// Polls until the condition holds. Returns false after `timeout`, which is long enough for the slowest machine. It
// sleeps between two polls, because otherwise it would keep a lock that the polled thread needs.
inline bool eventually(const std::function<bool()>& condition,
                       std::chrono::milliseconds timeout = std::chrono::minutes(1)) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  std::chrono::microseconds rest(100);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(rest);
    rest = std::min(2 * rest, std::chrono::microseconds(20'000));
  }
  return true;
}

}  // namespace koord::test
