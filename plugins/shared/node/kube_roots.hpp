// SPDX-License-Identifier: Apache-2.0
// Under which directory of the cgroup tree the kubelet keeps its pods, as plugins can know it. Pure. [any
// thread]
#pragma once

#include <string_view>
#include <vector>

#include "core/cgroup/names.hpp"

namespace koord::kube {

// Where a pod lies.
struct PodPlace {
  cgroup::KubeQos qos;
  std::string_view cgroup_dir;
};

// Returns the directories above the places of the pods, usually one. If no pod has a place: those that a kubelet, also
// kind's, makes on its own, of which a node has one at most.
std::vector<cgroup::KubeRoot> kube_roots(const std::vector<PodPlace>& pods);

}  // namespace koord::kube
