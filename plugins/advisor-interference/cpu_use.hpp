// SPDX-License-Identifier: Apache-2.0
// CpuUse: which containers used the CPUs that one of them may use, and for how long these CPUs ran nothing. Says which
// part of the waits behind own threads others cause. Pure. [any thread]
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
  std::uint64_t stolen_ns = 0;  // the hypervisor ran something else

  bool operator==(const UnusedCpu&) const = default;
};
using UnusedCpus = std::map<unsigned, UnusedCpu>;

// The lines "cpuN" of /proc/stat: totals since the start of the machine. Leaves out lines that are damaged.
UnusedCpus parse_unused_cpus(std::string_view stat);
// Returns the difference. CPUs that are missing in one of them are left out; a total that went back added nothing.
UnusedCpus added(const UnusedCpus& before, const UnusedCpus& now);

class CpuUse {
 public:
  // In a window of `seconds` > 0. `unused`: in that window; empty: unknown.
  CpuUse(const std::vector<CpuRun>& runs, const ContainerOfCgroup& container_of, UnusedCpus unused, double seconds);

  // Sets `idle` and `neighbours` of the window of a container that may use these CPUs; empty: all.
  void describe(analysis::CpuWindow& window, const CpuSet& cpus) const;

 private:
  double cpus_of(std::uint64_t ns) const { return static_cast<double>(ns) / 1e9 / seconds_; }

  // By container.
  std::unordered_map<std::uint64_t, std::vector<std::pair<unsigned, std::uint64_t>>> runs_;
  UnusedCpus unused_;
  double seconds_;
};

}  // namespace koord::interference
