// SPDX-License-Identifier: Apache-2.0
// Which limits and weights of block I/O are wished for, of the NodeSLO and of pods' annotations. Pure.
// Formats of the values: Documentation/admin-guide/cgroup-v2.rst of Linux, "IO Interface Files".
#pragma once

#include <set>
#include <string>
#include <vector>

#include "plugins/qos-blkio/devices.hpp"
#include "plugins/shared/slo/problems.hpp"
#include "plugins/shared/strategy/wish.hpp"

namespace koord::blkio {

struct LimitedPod {
  std::string uid, name, cgroup_dir;  // name: "namespace/name"
  std::vector<slo::Block> blocks;     // of its annotation
};

// What is pointed to is borrowed for the call.
struct Inputs {
  const slo::ResourceQos* strategy = nullptr;  // null: there is none
  const Known* known = nullptr;
  std::vector<std::string> best_effort_dirs, burstable_dirs;  // where the kubelet keeps such pods; one each as a rule
  std::vector<LimitedPod> pods;
  std::set<std::string, std::less<>> missing_knobs;  // that this node does not have, as was seen
};

struct Plan {
  strategy::Wishes wishes;
  slo::Problems problems;  // what could not be wished for, and why
};

Plan plan(const Inputs& inputs);

}  // namespace koord::blkio
