// SPDX-License-Identifier: Apache-2.0
// ContainerCgroups knows which container each cgroup of a hierarchy belongs to. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/advisor-interference/cpu_windows.hpp"
#include "plugins/shared/latency/cgroup_tree.hpp"

namespace koord::interference {

// A container as the state lists it.
struct KnownContainer {
  std::uint64_t handle = 0;
  std::string workload, cgroup_dir;
  bool is_sandbox = false;                                 // keeps a pod's namespaces, and does nothing
  std::shared_ptr<const analysis::Rules> rules = nullptr;  // of its workload; null: those of the node
};

class ContainerCgroups {
 public:
  explicit ContainerCgroups(latency::CgroupTree tree) : tree_(std::move(tree)) {}

  // Looks for the cgroups of all containers. Those that have ended since the last time are known until the next one.
  void refresh(const std::vector<KnownContainer>& containers);
  const ContainerOfCgroup& container_of() const { return container_of_; }
  const latency::CgroupTree& tree() const { return tree_; }

 private:
  latency::CgroupTree tree_;
  ContainerOfCgroup found_, container_of_;
};

}  // namespace koord::interference
