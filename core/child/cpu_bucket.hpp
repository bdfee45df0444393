// SPDX-License-Identifier: Apache-2.0
// CpuBucket: the CPU time that the agent may still spend for one child: this many cores, of which a second's worth may
// be spent at once. Pure: the caller says what time it is. [one thread]
#pragma once

#include <chrono>
#include <cstdint>

#include "core/base/clock.hpp"

namespace koord::child {

class CpuBucket {
 public:
  using Steady = std::chrono::steady_clock;

  // 0: without limit.
  CpuBucket(std::uint64_t millicores, Steady::time_point now);

  void spend(Duration cpu, Steady::time_point now);
  // Returns the time until the child may go on; zero: now. An empty bucket waits until it holds a tenth of a second's
  // worth.
  Duration wait() const;

 private:
  const std::int64_t millicores_;
  const std::int64_t most_ns_;
  std::int64_t left_ns_;
  bool empty_ = false;  // until there is a tenth again
  Steady::time_point filled_;
};

}  // namespace koord::child
