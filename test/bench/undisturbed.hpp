// SPDX-License-Identifier: Apache-2.0
// Shared by benchmarks of BPF programs: a process with real-time priority, and the worst case of the scheduler (`perf
// bench sched pipe`: two processes that only switch).
#pragma once

#include <sched.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include "core/base/parse.hpp"

namespace koord::bench {

inline void pin_to_one_cpu() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(::sched_getcpu(), &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

// Gives this process real-time priority. If this is not allowed, other load affects the results.
inline void go_before_others() {
  const sched_param parameter{.sched_priority = 1};
  static_cast<void>(sched_setscheduler(0, SCHED_FIFO, &parameter) == 0);
}

// Returns the time per operation; nullopt if perf does not work.
inline std::optional<double> pipe_us_per_op(unsigned ops = 100'000) {
  const std::string command = "perf bench -f simple sched pipe -l " + std::to_string(ops) + " 2>&1";
  FILE* output = ::popen(command.c_str(), "r");
  if (!output) return std::nullopt;
  std::array<char, 256> line{};
  const bool has_line = std::fgets(line.data(), line.size(), output) != nullptr;
  const bool ok = ::pclose(output) == 0 && has_line;
  auto seconds = ok ? parse_double(trim(line.data())) : invalid("no output");
  if (!seconds) return std::nullopt;
  return *seconds * 1e6 / ops;
}

// Prints one line with the measured ratio and its target. Returns whether the target is met.
inline bool gate(const std::string& name, double ours, double reference, double ratio, double target) {
  constexpr double kTolerance = 1.1;  // larger ratios fail
  const bool kept = ratio <= target * kTolerance;
  std::printf("%-44s %9.3f %9.3f %8.3f  <= %-6.3f %s\n", name.c_str(), ours, reference, ratio, target,
              kept ? "ok" : "MISSED");
  std::fflush(stdout);
  return kept;
}
inline void print_gate_header() {
  std::printf("%-44s %9s %9s %8s  %s\n", "measure", "ours", "reference", "ratio", "target");
}

}  // namespace koord::bench
