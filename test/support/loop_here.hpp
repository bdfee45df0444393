// SPDX-License-Identifier: Apache-2.0
// Runs an event loop on the test's own thread until a condition holds.
#pragma once

#include <chrono>
#include <functional>

#include "core/event/loop.hpp"
#include "core/event/worker_pool.hpp"

namespace koord::test {

struct LoopHere {
  event::Loop loop;
  event::WorkerPool workers{1};

  // Returns whether the condition held within the limit.
  bool until(const std::function<bool()>& condition, std::chrono::seconds limit = std::chrono::seconds(60)) {
    bool held = false;
    const auto look = loop.every(std::chrono::milliseconds(1), [&] {
      if (condition()) {
        held = true;
        loop.stop();
      }
    });
    const auto end = loop.after(limit, [&] { loop.stop(); });
    loop.run();
    return held;
  }
};

}  // namespace koord::test
