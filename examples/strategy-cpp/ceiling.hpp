// SPDX-License-Identifier: Apache-2.0
// Decides when best-effort pods get a CPU limit, and which. Pure: values in, a plan out; no host, no clock, no files.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct Settings {
  double busy_percent = 65;                // percent of the node's CPUs; above it the limit is proposed
  std::int64_t ceiling_milli_cores = 500;  // limit of each best-effort pod
};

struct Inputs {
  std::optional<double> usage_cores;     // nullopt: unknown, which does not mean "idle"
  std::uint32_t cpus = 0;                // online; 0: unknown
  std::vector<std::string> best_effort;  // cgroups of the pods
};

// One value for all cgroups. Without cgroups there are no intents.
struct Plan {
  std::vector<std::string> cgroups;
  std::string cpu_max;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> inputs;
};

inline std::string two_digits(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

// Returns "QUOTA PERIOD" in microseconds, in the format of cgroup v2.
inline std::string cpu_max(std::int64_t milli_cores) { return std::to_string(milli_cores * 100) + " 100000"; }

inline Plan plan(const Inputs& inputs, const Settings& settings) {
  if (!inputs.usage_cores || inputs.cpus == 0) return {};
  const double busy_cores = inputs.cpus * settings.busy_percent / 100;
  if (*inputs.usage_cores <= busy_cores) return {};
  const std::string usage = two_digits(*inputs.usage_cores), threshold = two_digits(busy_cores);
  return {inputs.best_effort,
          cpu_max(settings.ceiling_milli_cores),
          "the node uses " + usage + " cores, more than " + threshold,
          {{"node_cpu_usage", usage}, {"node_cpus", std::to_string(inputs.cpus)}, {"busy_cores", threshold}}};
}
