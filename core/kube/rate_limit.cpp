// SPDX-License-Identifier: Apache-2.0
#include "core/kube/rate_limit.hpp"

#include <algorithm>

namespace koord::kube {
namespace {

constexpr double kSlowest = 1e-3;  // requests per second

Duration interval_of(double per_second) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / std::max(per_second, kSlowest)));
}

}  // namespace

RateLimit::RateLimit(double per_second, std::uint32_t burst)
    : interval_(interval_of(per_second)), tolerance_(interval_ * (std::max<std::uint32_t>(burst, 1) - 1)) {
  held_until_.fill(Time::min());
}

Duration RateLimit::take(Verb verb, Time now) {
  if (const Time until = held_until_[static_cast<std::size_t>(verb)]; until > now) return until - now;
  Time& next = next_[verb == Verb::watch ? 1 : 0];
  const Time from = std::max(next, now);
  if (from - now > tolerance_) return from - now - tolerance_;
  next = from + interval_;
  return Duration::zero();
}

void RateLimit::hold(Verb verb, Duration wait, Time now) {
  Time& until = held_until_[static_cast<std::size_t>(verb)];
  until = std::max(until, now + std::clamp(wait, Duration::zero(), kLongestHold));
}

}  // namespace koord::kube
