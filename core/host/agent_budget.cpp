// SPDX-License-Identifier: Apache-2.0
#include "core/host/agent_budget.hpp"

#include <algorithm>
#include <utility>

namespace koord::host {

void AgentBudget::measure(Time now, Duration cpu) {
  cores_.reset();
  if (last_look_ && now > *last_look_ && cpu >= last_cpu_)
    cores_ = std::chrono::duration<double>(cpu - last_cpu_) / std::chrono::duration<double>(now - *last_look_);
  last_look_ = now;
  last_cpu_ = cpu;
}

bool AgentBudget::look(Time now, Duration cpu, std::uint64_t limit_millis) {
  measure(now, cpu);
  if (limit_millis == 0) return std::exchange(slowdown_, 1u) != 1;
  if (!cores_) return false;
  const double limit = static_cast<double>(limit_millis) / 1000;
  looks_above_ = *cores_ > limit ? looks_above_ + 1 : 0;
  looks_well_below_ = 2 * *cores_ < kComfortableShare * limit ? looks_well_below_ + 1 : 0;
  unsigned next = slowdown_;
  if (looks_above_ >= kLooksInARow) next = std::min(2 * slowdown_, kMostSlowdown);
  if (looks_well_below_ >= kLooksInARow) next = std::max(slowdown_ / 2, 1u);
  if (next == slowdown_) return false;
  slowdown_ = next;
  looks_above_ = looks_well_below_ = 0;
  return true;
}

}  // namespace koord::host
