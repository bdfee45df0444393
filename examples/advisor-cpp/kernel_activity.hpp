// SPDX-License-Identifier: Apache-2.0
// The scheduler's totals in /proc/stat. Pure: text in, values out; no host, no clock, no files.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

// Values of /proc/stat. A value is nullopt, never 0, if this kernel lacks the line or the line has no number.
struct KernelActivity {
  std::optional<std::uint64_t> context_switches;  // since boot
  std::optional<std::uint64_t> forks;             // since boot
  std::optional<std::uint64_t> runnable_tasks;    // now, including tasks on a CPU
  std::optional<std::uint64_t> blocked_tasks;     // now, waiting for I/O
};

inline std::optional<std::uint64_t> number_behind(std::string_view line, std::string_view key) {
  if (line.substr(0, key.size()) != key || line.substr(key.size(), 1) != " ") return std::nullopt;
  line.remove_prefix(key.size() + 1);
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size()) return std::nullopt;
  return number;
}

inline KernelActivity parse_kernel_activity(std::string_view stat) {
  KernelActivity activity;
  while (!stat.empty()) {
    const std::string_view line = stat.substr(0, stat.find('\n'));
    stat.remove_prefix(line.size() < stat.size() ? line.size() + 1 : line.size());
    if (auto number = number_behind(line, "ctxt")) activity.context_switches = number;
    if (auto number = number_behind(line, "processes")) activity.forks = number;
    if (auto number = number_behind(line, "procs_running")) activity.runnable_tasks = number;
    if (auto number = number_behind(line, "procs_blocked")) activity.blocked_tasks = number;
  }
  return activity;
}
