// SPDX-License-Identifier: Apache-2.0
// Observation: the usage in the last training period, from the metric cache. For each subject it is the 90th percentile
// of the samples. Unknown values are left out, never counted as 0. [any thread]
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/predict/amounts.hpp"
#include "core/state/snapshot.hpp"

namespace koord::store {
class Store;
}

namespace koord::predict {

// The metrics to learn from. advisor-pod-resource and advisor-node-resource provide them.
inline constexpr const char* kPodCpu = "pod_cpu_usage";
inline constexpr const char* kPodMemory = "pod_memory_usage";
inline constexpr const char* kNodeCpu = "node_cpu_usage";
inline constexpr const char* kNodeMemory = "node_memory_usage";

struct PodUsage {
  state::PriorityClass priority_class = state::PriorityClass::none;
  Usage usage;
};

struct Observation {
  std::optional<Usage> node;
  std::optional<Usage> system;  // usage of the node without its pods
  // Sums over pods. A class without pods uses nothing; a class with running pods but without measurements is left out.
  std::map<state::PriorityClass, Usage> classes;
  std::map<std::string, PodUsage, std::less<>> pods;  // key: uid
  std::string problem;                                // the missing values and the reason; empty: none is missing
};

// `measured`: the usage of pods by uid.
Observation observe(const state::Snapshot& state, const std::optional<Usage>& node,
                    const std::map<std::string, Usage, std::less<>>& measured);

Observation observe(const state::Snapshot& state, const store::Store& store, Time now, Duration period);

}  // namespace koord::predict
