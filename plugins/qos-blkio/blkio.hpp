// SPDX-License-Identifier: Apache-2.0
// Computes limits and weights of block I/O from the NodeSLO and from pods' annotations. Pure. For the formats of the
// values see Documentation/admin-guide/cgroup-v2.rst of Linux, "IO Interface Files".
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plugins/qos-blkio/devices.hpp"
#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/strategy/intent.hpp"

namespace koord::blkio {

struct LimitedPod {
  std::string uid, name, cgroup_dir;  // name: "namespace/name"
  std::vector<slo::Block> blocks;     // blocks of its annotation
};

// All pointers are borrowed during the call.
struct Inputs {
  const slo::ResourceQos* strategy = nullptr;  // null: not configured
  const Known* known = nullptr;
  std::vector<std::string> best_effort_dirs, burstable_dirs;  // the kubelet's cgroups of pods of these classes; usually
                                                              // one
  std::vector<LimitedPod> pods;
  std::set<std::string, std::less<>> missing_knobs;  // knobs that this node lacks, according to earlier results
};

struct Plan {
  strategy::Intents intents;
  slo::Problems problems;  // values that could not be proposed, with the reason
};

Plan plan(const Inputs& inputs);

}  // namespace koord::blkio
