// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-node-resource/node_resource.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/parse.hpp"
#include "plugins/shared/memory/meminfo.hpp"

namespace koord::node_resource {
namespace {

// Columns of a "cpu" line: user nice system idle iowait irq softirq steal guest guest_nice (proc(5)).
constexpr std::array<bool, 7> kIsBusy{true, true, true, false, false, true, true};

Result<std::int64_t> parse_busy_ticks(std::string_view columns) {
  std::int64_t busy = 0;
  for (bool counts : kIsBusy) {
    std::optional<std::string_view> word = next_word(columns);
    if (!word) return invalid("a cpu line of /proc/stat has fewer than 7 columns");
    std::int64_t ticks = TRY(parse_int(*word));
    if (counts) busy += ticks;
  }
  return busy;
}

}  // namespace

Result<CpuTicks> parse_stat(std::string_view text) {
  CpuTicks ticks;
  bool found = false;
  while (auto line = next_field(text, '\n')) {
    if (!line->starts_with("cpu")) break;  // the cpu lines come first
    std::string_view columns = line->substr(3);
    if (columns.starts_with(' ')) {
      ticks.node = TRY(parse_busy_ticks(columns));
      found = true;
    } else {
      std::uint64_t cpu = TRY(parse_uint(columns.substr(0, columns.find(' '))));
      columns.remove_prefix(std::min(columns.find(' '), columns.size()));
      ticks.per_cpu[static_cast<std::uint32_t>(cpu)] = TRY(parse_busy_ticks(columns));
    }
  }
  if (!found) return invalid("/proc/stat has no line 'cpu'");
  return ticks;
}

Result<double> parse_used_memory(std::string_view text) {
  double total = TRY(memory::meminfo_bytes(text, "MemTotal"));
  double available = TRY(memory::meminfo_bytes(text, "MemAvailable"));
  return std::max(total - available, 0.0);
}

Result<double> parse_numa_used_memory(std::string_view text) {
  double used = TRY(memory::meminfo_bytes(text, "MemTotal"));
  for (std::string_view key : {"MemFree", "Active(file)", "Inactive(file)", "SReclaimable"})
    used -= TRY(memory::meminfo_bytes(text, key));
  return std::max(used, 0.0);
}

CpuSampler::CpuSampler(double ticks_per_second, std::uint64_t max_gap_ns)
    : ns_per_tick_(1e9 / ticks_per_second), max_gap_ns_(max_gap_ns), node_(max_gap_ns) {}

CpuUsage CpuSampler::sample(const CpuTicks& ticks, std::uint64_t t_ns,
                            const std::map<std::uint32_t, std::uint32_t>& numa_node_of) {
  CpuUsage usage;
  if (auto rate = node_.update({ticks.node, t_ns})) usage.node_cores = *rate * ns_per_tick_;
  for (const auto& [cpu, busy] : ticks.per_cpu) {
    auto rate = per_cpu_.try_emplace(cpu, max_gap_ns_).first->second.update({busy, t_ns});
    auto numa_node = numa_node_of.find(cpu);
    if (rate && numa_node != numa_node_of.end()) usage.numa_cores[numa_node->second] += *rate * ns_per_tick_;
  }
  // Removes offline CPUs, because their counters do not advance. A CPU that is back online has no previous value and so
  // no rate at first.
  std::erase_if(per_cpu_, [&ticks](const auto& entry) { return !ticks.per_cpu.contains(entry.first); });
  return usage;
}

}  // namespace koord::node_resource
