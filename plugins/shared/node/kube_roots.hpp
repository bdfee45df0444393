// SPDX-License-Identifier: Apache-2.0
// Finds the directories of the cgroup tree under which the kubelet creates pods, from the pods that plugins see. Pure.
// [any thread]
#pragma once

#include <string_view>
#include <vector>

#include "core/cgroup/names.hpp"

namespace koord::kube {

// The place of a pod in the cgroup tree.
struct PodPlace {
  cgroup::KubeQos qos;
  std::string_view cgroup_dir;
};

// Returns the directories that contain the pods' cgroups, usually one. If no pod has a place, returns all default
// directories of a kubelet, including kind's. A node has at most one of these.
std::vector<cgroup::KubeRoot> kube_roots(const std::vector<PodPlace>& pods);

}  // namespace koord::kube
