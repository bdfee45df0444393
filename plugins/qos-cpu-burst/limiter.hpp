// SPDX-License-Identifier: Apache-2.0
// Limiter: how long a container may use more than its CPU limit. A bucket of percent-seconds: use above the limit
// drains it, use below 60 % of the limit fills it, and while it is not empty the quota may be raised. Its capacity is
// the drain of `cfsQuotaBurstPercent` of the limit in `cfsQuotaBurstPeriodSeconds`. Pure: the time is passed in.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace koord::cpu_burst {

// Where a container's bucket begins, from 0 to less than 0.5 of its capacity: by its id, so that containers that were
// started together do not all run dry together, and a restart of the agent finds the same.
double start_of(std::string_view container_id);

class Limiter {
 public:
  // `start`: of the capacity.
  Limiter(std::int64_t period_seconds, std::int64_t percent, double start, std::uint64_t now_ns);

  // Takes the use since the last call, in percent of the limit. nullopt: it was not measured, and the tokens stay.
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
