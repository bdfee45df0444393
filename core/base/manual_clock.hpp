// SPDX-License-Identifier: Apache-2.0
// A clock that moves only when it is set: for tests and for the replay of recordings. Wall time can be
// stepped on its own. [any thread]
#pragma once

#include <atomic>

#include "core/base/clock.hpp"

namespace koord {

class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t start_ns = 1'700'000'000'000'000'000) : now_ns_(start_ns), wall_ns_(start_ns) {}

  Time now() const override { return Time(Duration(now_ns_.load())); }
  std::int64_t wall_ns() const override { return wall_ns_.load(); }

  void advance(Duration d) {
    now_ns_ += d.count();
    wall_ns_ += d.count();
  }
  void step_wall(Duration d) { wall_ns_ += d.count(); }

 private:
  std::atomic<std::int64_t> now_ns_;
  std::atomic<std::int64_t> wall_ns_;
};

}  // namespace koord
