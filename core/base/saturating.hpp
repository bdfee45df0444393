// SPDX-License-Identifier: Apache-2.0
// Sums of amounts that others state, such as requests of pods: an absurd amount must not wrap around. [any thread]
#pragma once

#include <cstdint>
#include <limits>

namespace koord {

// Returns the nearest number where the sum is too large or too small for one.
constexpr std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? Limits::min() : Limits::max();
}

}  // namespace koord
