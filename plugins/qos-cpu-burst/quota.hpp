// SPDX-License-Identifier: Apache-2.0
// One step of a container's CPU quota between what its limit says and the burst that it may have. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/qos-cpu-burst/share_pool.hpp"
#include "plugins/shared/slo/sections.hpp"

namespace koord::cpu_burst {

// "QUOTA PERIOD" of cpu.max, in microseconds.
struct Bandwidth {
  std::int64_t quota_us = 0, period_us = 100'000;

  double cores() const { return static_cast<double>(quota_us) / static_cast<double>(period_us); }
  bool operator==(const Bandwidth&) const = default;
};

// Nothing: "max", no limit, or not what the kernel writes.
std::optional<Bandwidth> parse_bandwidth(std::string_view text);
std::string text_of(const Bandwidth& bandwidth);

// What a limit of so many milli-cores is, in this period; the kernel's least is 1000 µs.
std::int64_t quota_of(std::int64_t milli_cores, std::int64_t period_us);

bool has_static_part(const slo::CpuBurst& settings);
bool has_quota_part(const slo::CpuBurst& settings);

enum class Operation : std::uint8_t { reset, scale_down, remain, scale_up };

// What a container asks for. `throttled`: how much of its periods its quota held it back in; nothing: not known.
Operation wanted(const slo::CpuBurst& settings, bool limiter_allows, std::optional<double> throttled);
// What of that the shared pool allows.
Operation allowed(Operation wanted, PoolState pool);

// Between `base` and `cfsQuotaBurstPercent` of it, 20 % of `now` up or down.
std::int64_t next_quota(Operation operation, std::int64_t now_us, std::int64_t base_us, const slo::CpuBurst& settings);

}  // namespace koord::cpu_burst
