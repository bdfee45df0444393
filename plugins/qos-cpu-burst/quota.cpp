// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-cpu-burst/quota.hpp"

#include <algorithm>

#include "core/base/parse.hpp"

namespace koord::cpu_burst {
namespace {

using slo::BurstPolicy;

constexpr double kUp = 1.2, kDown = 0.8;
constexpr std::int64_t kLeastQuotaUs = 1000;
// Beyond it the kernel takes no quota (max_cfs_runtime), whatever the NodeSLO's percents.
constexpr std::int64_t kMostQuotaUs = std::int64_t{1} << 43;

std::int64_t ceiling(std::int64_t base_us, const slo::CpuBurst& settings) {
  const std::int64_t percent = std::clamp<std::int64_t>(settings.cfs_quota_burst_percent.value_or(100), 100, 1'000'000);
  return std::min(base_us / 100 * percent + base_us % 100 * percent / 100, kMostQuotaUs);
}

}  // namespace

std::optional<Bandwidth> parse_bandwidth(std::string_view text) {
  std::string_view rest = text;
  const auto quota = next_word(rest), period = next_word(rest);
  if (!quota || !period) return std::nullopt;
  const Result<std::int64_t> quota_us = parse_int(*quota), period_us = parse_int(*period);
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0 || *quota_us > kMostQuotaUs) return std::nullopt;
  return Bandwidth{*quota_us, *period_us};
}

std::string text_of(const Bandwidth& bandwidth) {
  return std::to_string(bandwidth.quota_us) + " " + std::to_string(bandwidth.period_us);
}

std::int64_t quota_of(std::int64_t milli_cores, std::int64_t period_us) {
  const auto quota_us = static_cast<std::int64_t>(static_cast<double>(milli_cores) * static_cast<double>(period_us) / 1000);
  return std::clamp(quota_us, kLeastQuotaUs, kMostQuotaUs);
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

std::int64_t next_quota(Operation operation, std::int64_t now_us, std::int64_t base_us, const slo::CpuBurst& settings) {
  const auto times = [now_us](double factor) { return static_cast<std::int64_t>(static_cast<double>(now_us) * factor); };
  std::int64_t next = now_us;
  if (operation == Operation::reset) next = base_us;
  if (operation == Operation::scale_up) next = times(kUp);
  if (operation == Operation::scale_down) next = times(kDown);
  return std::clamp(next, base_us, std::max(base_us, ceiling(base_us, settings)));
}

}  // namespace koord::cpu_burst
