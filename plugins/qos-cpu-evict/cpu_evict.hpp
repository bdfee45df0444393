// SPDX-License-Identifier: Apache-2.0
// Selects pods to evict for lack of CPU, by koordlet's three features. Pure: measurements in, demands out.
#pragma once

#include <cstdint>
#include <optional>

#include "plugins/shared/eviction/situation.hpp"

namespace koord::cpu_evict {

using eviction::Decision;
using eviction::Situation;

inline constexpr std::string_view kBestEffort = "BECPUEvict";
inline constexpr std::string_view kAllocatable = "CPUAllocatableEvict";
inline constexpr std::string_view kUsage = "CPUEvict";

// Sums over all pods of class BE, in milli-cores.
struct BestEffort {
  double usage = 0, request = 0, limit = 0;
};

// An average over the window and the newest value. nullopt: not measured, or not for long enough.
template <class Figure>
struct Trend {
  std::optional<Figure> average, newest;
};

struct NodeUsage {
  Trend<double> node_milli;
  Trend<BestEffort> best_effort;
};

struct Satisfaction {
  std::int64_t lower_percent = 0, upper_percent = 0, usage_percent = 0;
};

// Returns the part of their request that best-effort pods have to release, in milli-cores, so that the remaining pods
// get the upper percentage of their request. Returns 0 while they get the lower percentage, or do not use their limit.
// `limit`: 0 or less: unknown.
std::int64_t release(const BestEffort& pods, const Satisfaction& satisfaction);

// The decision has pointers to the pods of the situation.
Decision decide(const Situation& situation, const NodeUsage& node_usage);

}  // namespace koord::cpu_evict
