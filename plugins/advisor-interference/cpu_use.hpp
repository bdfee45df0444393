// SPDX-License-Identifier: Apache-2.0
// CpuUse: which containers used the CPUs that a container may use, and how long these CPUs were idle. If a container
// waits for CPUs used by its own threads, this shows which part of the waits other containers cause. Pure. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/analysis/cpu_rule.hpp"
#include "core/base/cpu_set.hpp"
#include "plugins/advisor-interference/cpu_windows.hpp"

namespace koord::interference {

// Time in which a CPU ran no thread of this machine.
struct UnusedCpu {
  std::uint64_t idle_ns = 0;
  std::uint64_t stolen_ns = 0;  // the hypervisor ran a different machine

  bool operator==(const UnusedCpu&) const = default;
};
using UnusedCpus = std::map<unsigned, UnusedCpu>;

// Parses the lines "cpuN" of /proc/stat: totals since boot. Damaged lines are left out.
UnusedCpus parse_unused_cpus(std::string_view stat);
// Returns the difference. CPUs that are missing on one side are left out. If a total decreased, its difference is 0.
UnusedCpus added(const UnusedCpus& before, const UnusedCpus& now);

class CpuUse {
 public:
  // `seconds`: length of the window, > 0. `unused`: times in the window; empty: unknown.
  CpuUse(const std::vector<CpuRun>& runs, const ContainerOfCgroup& container_of, UnusedCpus unused, double seconds);

  // Sets `idle` and `neighbours` in the window of a container that may use these CPUs; empty: all CPUs.
  void describe(analysis::CpuWindow& window, const CpuSet& cpus) const;

 private:
  double cpus_of(std::uint64_t ns) const { return static_cast<double>(ns) / 1e9 / seconds_; }

  // CPU and nanoseconds, by container.
  std::unordered_map<std::uint64_t, std::vector<std::pair<unsigned, std::uint64_t>>> runs_;
  UnusedCpus unused_;
  double seconds_;
};

}  // namespace koord::interference
