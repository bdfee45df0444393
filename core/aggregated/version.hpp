// SPDX-License-Identifier: Apache-2.0
// Resource versions. One store is one epoch. Its versions begin above all versions of earlier epochs and increase by
// one with each write. All versions have sixteen digits, so a version can be written into an existing text. [any
// thread]
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace koord::aggregated {

using Version = std::uint64_t;

inline constexpr std::size_t kVersionDigits = 16;
inline constexpr Version kLeastVersion = 1'000'000'000'000'000;
inline constexpr Version kMostVersion = 9'999'999'999'999'999;

// Returns the start of an epoch: the microseconds of the wall clock, or `used` + 1 if that is greater. `used` is the
// highest version that an earlier epoch may have assigned, as far as known. An epoch assigns less than a million
// versions a second. So with correct clocks the microseconds alone are above all earlier versions; `used` is needed for
// clocks that are behind.
constexpr Version first_version(std::int64_t wall_ns, Version used) {
  const auto microseconds = static_cast<Version>(std::max<std::int64_t>(wall_ns, 0)) / 1000;
  return std::clamp(std::max(microseconds, used + 1), kLeastVersion, kMostVersion);
}

}  // namespace koord::aggregated
