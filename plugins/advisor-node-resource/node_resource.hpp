// SPDX-License-Identifier: Apache-2.0
// Computes a node's usage from the text of the kernel's files. Pure: no file, no clock, no host.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/counter_rate.hpp"
#include "core/base/result.hpp"

namespace koord::node_resource {

// USER_HZ ticks in which a CPU was busy: user + nice + system + irq + softirq, like in koordlet. Idle, iowait and steal
// are no usage of the node; guest time is included in user time.
struct CpuTicks {
  std::int64_t node = 0;                          // the line "cpu"
  std::map<std::uint32_t, std::int64_t> per_cpu;  // the lines "cpuN", only online CPUs
};

// Parses /proc/stat.
Result<CpuTicks> parse_stat(std::string_view text);

// Parses /proc/meminfo: MemTotal - MemAvailable, in bytes.
Result<double> parse_used_memory(std::string_view text);

// Parses /sys/bus/node/devices/nodeN/meminfo: MemTotal - (MemFree + Active(file) + Inactive(file) + SReclaimable), in
// bytes, at least 0. There is no MemAvailable per NUMA node.
Result<double> parse_numa_used_memory(std::string_view text);

struct CpuUsage {
  std::optional<double> node_cores;
  std::map<std::uint32_t, double> numa_cores;  // key: NUMA node id; a node is left out if none of its CPUs has a rate
};

// Converts cumulative ticks to cores. Keeps the previous reading.
class CpuSampler {
 public:
  CpuSampler(double ticks_per_second, std::uint64_t max_gap_ns);

  // `numa_node_of` maps a CPU to its NUMA node; other CPUs count for the node only.
  CpuUsage sample(const CpuTicks& ticks, std::uint64_t t_ns,
                  const std::map<std::uint32_t, std::uint32_t>& numa_node_of);

 private:
  double ns_per_tick_;
  std::uint64_t max_gap_ns_;
  CounterRate node_;
  std::map<std::uint32_t, CounterRate> per_cpu_;
};

}  // namespace koord::node_resource
