// SPDX-License-Identifier: Apache-2.0
// Limiter: how long a container may use more than its CPU limit. A bucket of percent-seconds: usage above the limit
// drains it, usage below 60 % of the limit fills it, and while it is not empty the quota may be raised. Its capacity is
// the amount that a usage of `cfsQuotaBurstPercent` of the limit drains in `cfsQuotaBurstPeriodSeconds`. Pure: the time
// is a parameter.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace koord::cpu_burst {

// Returns the initial level of a container's bucket, from 0 to less than 0.5 of its capacity. It depends on the id, so
// containers that start together do not all drain at the same time, and the level is the same after a restart of the
// agent.
double start_of(std::string_view container_id);

class Limiter {
 public:
  // `start`: initial level as a fraction of the capacity.
  Limiter(std::int64_t period_seconds, std::int64_t percent, double start, std::uint64_t now_ns);

  // Applies the usage since the last call, in percent of the limit. nullopt: not measured, the tokens do not change.
  void take(std::optional<double> usage_percent, std::uint64_t now_ns);
  bool allows() const { return tokens_ > 0; }
  double tokens() const { return tokens_; }

  bool is_for(std::int64_t period_seconds, std::int64_t percent) const {
    return period_ == period_seconds && percent_ == percent;
  }

 private:
  std::int64_t period_, percent_;
  double capacity_, tokens_;
  std::uint64_t at_ns_;
};

}  // namespace koord::cpu_burst
