// SPDX-License-Identifier: Apache-2.0
// AgentBudget: the CPU usage of the agent and its plugins together, compared with their limit at every poll. After
// 3 polls in a row beyond it, the periods of all advisors are doubled, up to 8 times the configured ones. They are
// halved again after 3 polls in a row in which twice the usage is below 80 % of the limit. Pure. [one thread]
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/clock.hpp"

namespace koord::host {

class AgentBudget {
 public:
  static constexpr unsigned kSamplesInARow = 3;  // a moment is no habit
  static constexpr unsigned kMostSlowdown = 8;
  static constexpr double kComfortableShare = 0.8;

  // `cpu`: used so far by the agent and the processes of its plugins; less than before when one of those has ended.
  // 0 limit_millis: no limit. True when the slowdown is another now.
  bool measure(Time now, Duration cpu, std::uint64_t limit_millis);

  unsigned slowdown() const { return slowdown_; }
  // Between the last two polls; nullopt: unknown.
  std::optional<double> cores() const { return cores_; }

 private:
  void measure(Time now, Duration cpu);

  std::optional<Time> last_measured_;
  Duration last_cpu_{};
  std::optional<double> cores_;
  unsigned samples_above_ = 0, samples_well_below_ = 0;
  unsigned slowdown_ = 1;
};

}  // namespace koord::host
