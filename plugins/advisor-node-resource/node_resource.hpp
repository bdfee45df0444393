// SPDX-License-Identifier: Apache-2.0
// From the text of the kernel's files to what a node uses. Pure: no file, no clock, no host.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/counter_rate.hpp"
#include "core/base/result.hpp"

namespace koord::node_resource {

// Ticks of USER_HZ a CPU was not idle: user + nice + system + irq + softirq, as koordlet counts them. Idle, iowait and
// steal are not the node's use; guest time is inside user time.
struct CpuTicks {
  std::int64_t node = 0;                          // the line "cpu"
  std::map<std::uint32_t, std::int64_t> per_cpu;  // the lines "cpuN": online CPUs only
};

// /proc/stat.
Result<CpuTicks> parse_stat(std::string_view text);

// /proc/meminfo: MemTotal - MemAvailable, in bytes.
Result<double> parse_used_memory(std::string_view text);

// /sys/bus/node/devices/nodeN/meminfo: MemTotal - (MemFree + Active(file) + Inactive(file) + SReclaimable), in bytes,
// at least 0; there is no MemAvailable per NUMA node.
Result<double> parse_numa_used_memory(std::string_view text);

struct CpuUsage {
  std::optional<double> node_cores;
  std::map<std::uint32_t, double> numa_cores;  // by NUMA node id; a node without a CPU with a rate is left out
};

// Turns cumulative ticks into cores. Keeps the reading before.
class CpuSampler {
 public:
  CpuSampler(double ticks_per_second, std::uint64_t max_gap_ns);

  // `numa_node_of` maps a CPU to its NUMA node; CPUs it does not name count for the node only.
  CpuUsage sample(const CpuTicks& ticks, std::uint64_t t_ns,
                  const std::map<std::uint32_t, std::uint32_t>& numa_node_of);

 private:
  double ns_per_tick_;
  std::uint64_t max_gap_ns_;
  CounterRate node_;
  std::map<std::uint32_t, CounterRate> per_cpu_;
};

}  // namespace koord::node_resource
