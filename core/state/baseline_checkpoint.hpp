// SPDX-License-Identifier: Apache-2.0
// BaselineCheckpoint: the cluster's object InterferenceMetricCheckpoint, which has what is quiet for one workload: the
// histograms of how much others hold it up, and of how long it reads pages again. Quiet latencies of block I/O are no
// part of it: they are those of a node's own disk. One node writes it at a time. Pure. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/analysis/baseline_record.hpp"
#include "core/base/result.hpp"
#include "core/state/snapshot.hpp"

namespace koord::state {

struct BaselineCheckpoint {
  std::string workload;         // in the cluster: "shop/cart/app"
  std::string node;             // that wrote it
  std::int64_t updated = 0;     // Unix seconds
  analysis::SavedBaseline cpu;  // without its time; its workload is that of the cluster
  std::optional<analysis::SavedBaseline> memory = std::nullopt;  // the same
};

// A baseline of the cluster counts as much as an hour of own windows at most, so that a node corrects a wrong one.
inline constexpr double kMostCheckpointWeight = 3600;

// "w-0123456789abcdef": names of workloads are no names of objects.
std::string checkpoint_name(std::string_view workload);

// The error names the field, what was found and what is expected.
Result<BaselineCheckpoint> parse_checkpoint(std::string_view object);

// The object's spec as JSON, and a whole new object.
std::string checkpoint_spec(const BaselineCheckpoint& checkpoint);
std::string checkpoint_object(const BaselineCheckpoint& checkpoint);

// Whether a quiet level is another by about a fifth, or twice as many windows are known.
bool differs_materially(const BaselineCheckpoint& a, const BaselineCheckpoint& b);

// The workloads of pods, by the name that the plugin has for them, with their name in the cluster: for a Deployment
// the same for each ReplicaSet. Pods without an owner have none.
std::map<std::string, std::string> cluster_workloads(const Snapshot& snapshot);

}  // namespace koord::state
