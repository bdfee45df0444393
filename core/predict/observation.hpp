// SPDX-License-Identifier: Apache-2.0
// Observation: what was used in the last training period, as the metric cache has it: of each the 90th percentile of its
// samples. What is not known is left out, never 0. [any thread]
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

// The metrics that is learnt from; those of advisor-pod-resource and advisor-node-resource.
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
  std::optional<Usage> system;  // of the node, but of no pod
  // Sums of pods. A class that has no pod uses nothing; one whose pods run and of which none was measured is left out.
  std::map<state::PriorityClass, Usage> classes;
  std::map<std::string, PodUsage, std::less<>> pods;  // by uid
  std::string problem;  // what is missing, and why; empty: nothing
};

// `measured`: the use of pods by uid.
Observation observe(const state::Snapshot& state, const std::optional<Usage>& node,
                    const std::map<std::string, Usage, std::less<>>& measured);

Observation observe(const state::Snapshot& state, const store::Store& store, Time now, Duration period);

}  // namespace koord::predict
