// SPDX-License-Identifier: Apache-2.0
// One step of the factor between a container's CPU limit and its CPU quota. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plugins/qos-cpu-burst/share_pool.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::cpu_burst {

// The kernel accepts no larger quota (max_cfs_runtime), whatever the NodeSLO's percents.
inline constexpr std::int64_t kMostQuotaUs = std::int64_t{1} << 43;

// Returns a factor on the limit as text, "1.2", with at most six digits after the point. 1 is the limit itself.
std::string text_of_scale(double scale);
double rounded_scale(double scale);
double rounded_down_scale(double scale);
double rounded_up_scale(double scale);

// Returns the quota for a limit in milli-cores and a period; the kernel's minimum is 1000 µs.
std::int64_t quota_of(std::int64_t milli_cores, std::int64_t period_us);

bool has_static_part(const slo::CpuBurst& settings);
bool has_quota_part(const slo::CpuBurst& settings);

enum class Operation : std::uint8_t { reset, scale_down, remain, scale_up };

// Returns the operation that a container needs. `throttled`: share of its periods in which its quota throttled it;
// nullopt: unknown.
Operation wanted(const slo::CpuBurst& settings, bool limiter_allows, std::optional<double> throttled);
// Returns the operation that the shared pool permits.
Operation allowed(Operation wanted, PoolState pool);

// Returns the next factor: 20 % of `now` up or down, between 1 and `cfsQuotaBurstPercent`.
double next_scale(Operation operation, double now, const slo::CpuBurst& settings);

}  // namespace koord::cpu_burst
