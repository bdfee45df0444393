// SPDX-License-Identifier: Apache-2.0
// Backoff: how long to wait after each failure in a row, twice as long each time up to a bound, and at random, so that
// five thousand nodes that failed at once do not come back at once. Pure: the caller counts and waits. [one thread]
#pragma once

#include <cstdint>

#include "core/base/clock.hpp"

namespace koord {

// Numbers at random from a seed (splitmix64); eight bytes.
class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  // Anything from `low` to `high`.
  Duration between(Duration low, Duration high);

 private:
  std::uint64_t state_;
};

// A seed that no other agent of the cluster is likely to have.
std::uint64_t random_seed();

class Backoff {
 public:
  // The first wait is anything up to `first`; each further one between the half and the whole of twice the one before,
  // at most of `longest`.
  Backoff(Duration first, Duration longest, std::uint64_t seed) : first_(first), longest_(longest), random_(seed) {}

  // After a failure: returns how long to wait. A wait that the server asks for (`at_least`) is kept, a tenth longer at
  // most, so that not all clients return together; waits above kMaxAsked are ignored.
  static constexpr Duration kMaxAsked = std::chrono::minutes(10);
  Duration failed(Duration at_least = Duration::zero());

  void succeeded() { failures_ = 0; }
  std::uint32_t failures() const { return failures_; }  // in a row
  RandomSource& random() { return random_; }

 private:
  Duration first_, longest_;
  RandomSource random_;
  std::uint32_t failures_ = 0;
};

}  // namespace koord
