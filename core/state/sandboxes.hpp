// SPDX-License-Identifier: Apache-2.0
// Sandboxes: a list of pods does not name the container that holds a pod's namespaces, the cgroup tree shows
// it. It is the one directory in the pod's that belongs to no container of the list; of several it is the one
// that it was before, since a container may be there before it is listed. One thread at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/cgroup/layout.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

class Sandboxes {
 public:
  // The name of every sandbox, as cAdvisor and dashboards have it.
  static constexpr const char* kName = "POD";

  // Lists the directory of each pod and adds its sandbox to its containers. A pod without a cgroup, or a
  // runtime that gives the sandbox none, is ordinary.
  // A pod that names its cgroups itself has none: see unnamed_cgroups().
  void add_to(std::vector<Pod>& pods, const cgroup::Layout& layout);

 private:
  std::map<std::string, std::string> found_;  // directory by the pod's uid
};

// Directories below that of a pod with cgroup names of its own that belong to none of its containers.
std::vector<std::string> unnamed_cgroups(const Pod& pod, const cgroup::Layout& layout);

}  // namespace koord::state
