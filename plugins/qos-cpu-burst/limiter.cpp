// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-burst/limiter.hpp"

#include <algorithm>

namespace koord::cpu_burst {
namespace {

constexpr double kTakesFrom = 100, kGivesBelow = 60;  // percent of the limit
constexpr double kSecondNs = 1e9;

}  // namespace

// FNV-1a; its upper bits are mixed well enough for a fraction from 0 to 0.5.
double start_of(std::string_view container_id) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char letter : container_id) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return static_cast<double>(hash >> 11) / 0x1p53 / 2;
}

Limiter::Limiter(std::int64_t period_seconds, std::int64_t percent, double start, std::uint64_t now_ns)
    : period_(period_seconds),
      percent_(percent),
      capacity_(static_cast<double>(period_seconds) * static_cast<double>(std::max<std::int64_t>(percent - 100, 0))),
      tokens_(capacity_ * start),
      at_ns_(now_ns) {}

void Limiter::take(std::optional<double> usage_percent, std::uint64_t now_ns) {
  const double seconds = now_ns > at_ns_ ? static_cast<double>(now_ns - at_ns_) / kSecondNs : 0;
  at_ns_ = std::max(at_ns_, now_ns);
  if (!usage_percent || (*usage_percent < kTakesFrom && *usage_percent >= kGivesBelow)) return;
  tokens_ = std::clamp(tokens_ + (kTakesFrom - *usage_percent) * seconds, -capacity_, capacity_);
}

}  // namespace koord::cpu_burst
