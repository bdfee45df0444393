// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-burst/quota.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace koord::cpu_burst {
namespace {

using slo::BurstPolicy;

constexpr double kUp = 1.2, kDown = 0.8;
constexpr double kDigits = 1e6;  // decimal precision of a factor
constexpr std::int64_t kLeastQuotaUs = 1000;

// The host accepts no larger factor.
constexpr double kLargestScale = 1000;

double ceiling(const slo::CpuBurst& settings) {
  return std::clamp(static_cast<double>(settings.cfs_quota_burst_percent.value_or(100)) / 100, 1.0, kLargestScale);
}

}  // namespace

std::string text_of_scale(double scale) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", scale);
  std::string shown = text;
  shown.erase(shown.find_last_not_of('0') + 1);
  if (shown.ends_with('.')) shown.pop_back();
  return shown;
}

double rounded_scale(double scale) { return std::round(scale * kDigits) / kDigits; }

double rounded_down_scale(double scale) { return std::floor(scale * kDigits + 1e-3) / kDigits; }

double rounded_up_scale(double scale) { return std::ceil(scale * kDigits - 1e-3) / kDigits; }

std::int64_t quota_of(std::int64_t milli_cores, std::int64_t period_us) {
  const double quota_us = static_cast<double>(milli_cores) * static_cast<double>(period_us) / 1000;
  return static_cast<std::int64_t>(
      std::clamp(quota_us, static_cast<double>(kLeastQuotaUs), static_cast<double>(kMostQuotaUs)));
}

bool has_static_part(const slo::CpuBurst& settings) {
  return settings.policy == BurstPolicy::cpu_burst_only || settings.policy == BurstPolicy::automatic;
}

bool has_quota_part(const slo::CpuBurst& settings) {
  return settings.policy == BurstPolicy::cfs_quota_burst_only || settings.policy == BurstPolicy::automatic;
}

Operation wanted(const slo::CpuBurst& settings, bool limiter_allows, std::optional<double> throttled) {
  if (!has_quota_part(settings)) return Operation::reset;
  if (!limiter_allows) return Operation::scale_down;
  return throttled && *throttled > 0 ? Operation::scale_up : Operation::remain;
}

Operation allowed(Operation wanted, PoolState pool) {
  const bool lowers = wanted == Operation::reset || wanted == Operation::scale_down;
  if (lowers || pool == PoolState::idle) return wanted;
  return pool == PoolState::overload ? Operation::scale_down : Operation::remain;
}

double next_scale(Operation operation, double now, const slo::CpuBurst& settings) {
  double next = now;
  if (operation == Operation::reset) next = 1;
  if (operation == Operation::scale_up) next = now * kUp;
  if (operation == Operation::scale_down) next = now * kDown;
  return rounded_scale(std::clamp(next, 1.0, ceiling(settings)));
}

}  // namespace koord::cpu_burst
