// SPDX-License-Identifier: Apache-2.0
// RateLimit: how long a request must wait before it may be sent. Two buckets of tokens, one for watches that begin and
// one for all else, and what the server has asked for with Retry-After, verb by verb. Pure: times go in, waits come
// out. [any thread, one at a time]
#pragma once

#include <array>
#include <cstdint>

#include "core/base/clock.hpp"
#include "core/kube/client.hpp"

namespace koord::kube {

// The longest that a server may make us wait.
inline constexpr Duration kLongestHold = std::chrono::minutes(1);

class RateLimit {
 public:
  // A bucket gains `per_second` tokens each second and holds `burst`.
  RateLimit(double per_second, std::uint32_t burst);

  // Zero: a token is taken, send it; otherwise ask again after this time.
  Duration take(Verb verb, Time now);
  // The server wants no request of this verb for that long.
  void hold(Verb verb, Duration wait, Time now);

 private:
  static constexpr std::size_t kVerbs = 7;

  const Duration interval_;                             // between two tokens
  const Duration tolerance_;                            // how far a bucket may be ahead of that
  std::array<Time, 2> next_{Time::min(), Time::min()};  // when the bucket would be full again
  std::array<Time, kVerbs> held_until_;
};

}  // namespace koord::kube
