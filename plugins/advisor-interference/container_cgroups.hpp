// SPDX-License-Identifier: Apache-2.0
// ContainerCgroups maps each cgroup of a hierarchy to its container. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/advisor-interference/cpu_windows.hpp"
#include "plugins/shared/latency/cgroup_tree.hpp"

namespace koord::interference {

// A container in the state of the node.
struct KnownContainer {
  std::uint64_t handle = 0;
  std::string workload, cgroup_dir;
  bool is_sandbox = false;                                 // keeps a pod's namespaces and does no work
  std::shared_ptr<const analysis::Rules> rules = nullptr;  // rules of its workload; null: the node's rules
};

class ContainerCgroups {
 public:
  explicit ContainerCgroups(latency::CgroupTree tree) : tree_(std::move(tree)) {}

  // Finds the cgroups of all containers. Cgroups that have ended since the last call are kept until the next call.
  void refresh(const std::vector<KnownContainer>& containers);
  const ContainerOfCgroup& container_of() const { return container_of_; }
  const latency::CgroupTree& tree() const { return tree_; }

 private:
  latency::CgroupTree tree_;
  ContainerOfCgroup found_, container_of_;
};

}  // namespace koord::interference
