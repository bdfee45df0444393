// SPDX-License-Identifier: Apache-2.0
// PodTree: cgroups of this machine's kernel, as for pods of three containers. Removed with the object.
#pragma once

#include <string>
#include <vector>

#include "core/cgroup/layout.hpp"
#include "core/state/pod.hpp"

namespace koord::bench {

inline constexpr int kContainersPerPod = 3;

class PodTree {
 public:
  PodTree(const cgroup::Layout& layout, int pods);
  ~PodTree();
  PodTree(const PodTree&) = delete;
  PodTree& operator=(const PodTree&) = delete;

  // Returns pods and containers, parents first, relative to the hierarchies' roots.
  const std::vector<std::string>& cgroups() const { return cgroups_; }
  // Returns the pods of the tree as a source of state reports them.
  std::vector<state::Pod> pods() const;

 private:
  void add(const std::string& cgroup);

  const cgroup::Layout& layout_;
  std::string root_;
  int pods_;
  std::vector<std::string> cgroups_;
};

}  // namespace koord::bench
