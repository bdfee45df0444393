// SPDX-License-Identifier: Apache-2.0
#include "core/base/backoff.hpp"

#include <algorithm>
#include <random>

namespace koord {

std::uint64_t RandomSource::next() {
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

Duration RandomSource::between(Duration low, Duration high) {
  if (high <= low) return low;
  return low + Duration(static_cast<std::int64_t>(next() % static_cast<std::uint64_t>((high - low).count() + 1)));
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

Duration Backoff::failed(Duration at_least) {
  Duration longest = first_;
  for (std::uint32_t i = 0; i < failures_ && longest < longest_; ++i) longest *= 2;
  longest = std::min(longest, longest_);
  const Duration own = random_.between(failures_ == 0 ? Duration::zero() : longest / 2, longest);
  ++failures_;
  const Duration asked = std::min(at_least, kMaxAsked);
  return std::max(own, asked > Duration::zero() ? random_.between(asked, asked + asked / 10) : asked);
}

}  // namespace koord
