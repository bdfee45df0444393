// SPDX-License-Identifier: Apache-2.0
// Budget: the usage of one plugin, compared with its limits at every poll. From 80 % of a limit on, it warns once and
// doubles the period at each poll, up to 8 times the configured period; too many series only warn. It halves the period
// again when twice the CPU usage, the memory and the duration of a tick are below 80 %. A plugin that stays at its
// limit of CPU, or is beyond its limit of memory, is restarted. Pure. [one thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/host/plugin_status.hpp"

namespace koord::host {

// 0: no limit.
struct Allowance {
  std::uint64_t cpu_millis = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t series = 0;
  Duration tick{};  // its deadline
};

// Usage so far of its current processes.
struct Use {
  std::vector<int> processes;                 // 0: this one
  Duration cpu{};                             // with service_cpu
  Duration service_cpu{};                     // of the agent, for requests of those processes and for their scrapes
  std::optional<std::uint64_t> memory_bytes;  // nullopt: it has no process of its own
  std::uint64_t series = 0;
  Duration tick{};  // how long the last one took
};

class Budget {
 public:
  static constexpr double kSoftShare = 0.8;
  static constexpr double kHardShare = 0.95;     // the kernel does not allow usage closer to a CPU limit
  static constexpr unsigned kSamplesToSlow = 3;  // in a row, of CPU and time: a moment is no habit
  static constexpr unsigned kSamplesToRestart = 6;
  static constexpr unsigned kMostSlowdown = 8;
  static constexpr Duration kQuiet = std::chrono::minutes(10);  // between two warnings about the same

  struct Verdict {
    std::string warning;  // empty: there is nothing new to warn of
    std::string breach;   // empty: it may go on; otherwise why it may not
  };
  Verdict measure(Time now, const Use& use, const Allowance& allowance);

  const BudgetStatus& status() const { return status_; }

 private:
  struct Warned {
    bool now = false;
    std::optional<Time> last;
  };
  void measure_cpu(Time now, const Use& use);
  std::string in_the_agent() const;
  bool warn(Warned& of, bool above, Time now);
  void pace(bool above, bool may_speed_up);

  BudgetStatus status_;
  std::optional<Time> last_measured_;
  std::vector<int> last_processes_;
  Duration last_cpu_{}, last_service_cpu_{};
  unsigned samples_above_soft_ = 0, samples_above_hard_ = 0, samples_near_deadline_ = 0;
  Warned cpu_, memory_, series_, tick_;
};

}  // namespace koord::host
