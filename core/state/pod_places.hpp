// SPDX-License-Identifier: Apache-2.0
// Finds the cgroup tree of the listed pods where a machine has several: of a nested cluster, of one that was removed,
// of another kubelet. These functions list directories and open no file. [any thread]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/cgroup/kube_root.hpp"
#include "core/cgroup/layout.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

struct PodPlaces {
  cgroup::KubeRoot root;
  std::vector<std::string> others;  // directories of trees that hold pods, too

  bool operator==(const PodPlaces&) const = default;
};

// The tree with most of the listed pods; `guess` where none has more. `node`: as place_in_cgroups() has it.
PodPlaces find_pods(const cgroup::Layout& layout, const cgroup::KubeRoot& guess, const std::vector<Pod>& listed,
                    std::string_view node = {});

// One sentence about the others; empty: none.
std::string describe_others(const PodPlaces& places);

}  // namespace koord::state
