// SPDX-License-Identifier: Apache-2.0
// One step of the factor that a container's CPU quota has on its limit. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plugins/qos-cpu-burst/share_pool.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::cpu_burst {

// Beyond it the kernel takes no quota (max_cfs_runtime), whatever the NodeSLO's percents.
inline constexpr std::int64_t kMostQuotaUs = std::int64_t{1} << 43;

// Factor on the limit; 1: the limit itself. As text "1.2", with at most six digits behind the point.
std::string text_of_scale(double scale);
double rounded_scale(double scale);
double rounded_down_scale(double scale);
double rounded_up_scale(double scale);

// The quota of a limit of this many milli-cores, in this period; the kernel's minimum is 1000 µs.
std::int64_t quota_of(std::int64_t milli_cores, std::int64_t period_us);

bool has_static_part(const slo::CpuBurst& settings);
bool has_quota_part(const slo::CpuBurst& settings);

enum class Operation : std::uint8_t { reset, scale_down, remain, scale_up };

// The operation that a container needs. `throttled`: share of its periods in which its quota throttled it; nothing:
// unknown.
Operation wanted(const slo::CpuBurst& settings, bool limiter_allows, std::optional<double> throttled);
// The operation that the shared pool allows.
Operation allowed(Operation wanted, PoolState pool);

// Between 1 and `cfsQuotaBurstPercent`, 20 % of `now` up or down.
double next_scale(Operation operation, double now, const slo::CpuBurst& settings);

}  // namespace koord::cpu_burst
