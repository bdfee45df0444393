// SPDX-License-Identifier: Apache-2.0
#include "core/host/agent_budget.hpp"

#include <algorithm>
#include <utility>

namespace koord::host {

void AgentBudget::measure(Time now, Duration cpu) {
  cores_.reset();
  if (last_measured_ && now > *last_measured_ && cpu >= last_cpu_)
    cores_ = std::chrono::duration<double>(cpu - last_cpu_) / std::chrono::duration<double>(now - *last_measured_);
  last_measured_ = now;
  last_cpu_ = cpu;
}

bool AgentBudget::measure(Time now, Duration cpu, std::uint64_t limit_millis) {
  measure(now, cpu);
  if (limit_millis == 0) return std::exchange(slowdown_, 1u) != 1;
  if (!cores_) return false;
  const double limit = static_cast<double>(limit_millis) / 1000;
  samples_above_ = *cores_ > limit ? samples_above_ + 1 : 0;
  samples_well_below_ = 2 * *cores_ < kComfortableShare * limit ? samples_well_below_ + 1 : 0;
  unsigned next = slowdown_;
  if (samples_above_ >= kSamplesInARow) next = std::min(2 * slowdown_, kMostSlowdown);
  if (samples_well_below_ >= kSamplesInARow) next = std::max(slowdown_ / 2, 1u);
  if (next == slowdown_) return false;
  slowdown_ = next;
  samples_above_ = samples_well_below_ = 0;
  return true;
}

}  // namespace koord::host
