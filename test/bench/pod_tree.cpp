// SPDX-License-Identifier: Apache-2.0
#include "test/bench/pod_tree.hpp"

#include <unistd.h>

#include <filesystem>

#include "core/base/file.hpp"

namespace koord::bench {

PodTree::PodTree(const cgroup::Layout& layout, int pods)
    : layout_(layout), root_("koord-test-bench-" + std::to_string(::getpid())), pods_(pods) {
  add(root_);
  for (int pod = 0; pod < pods; ++pod) {
    std::string dir = root_ + "/pod" + std::to_string(pod);
    add(dir);
    for (int container = 0; container < kContainersPerPod; ++container) add(dir + "/c" + std::to_string(container));
  }
}

PodTree::~PodTree() {
  std::error_code ignored;
  for (auto cgroup = cgroups_.rbegin(); cgroup != cgroups_.rend(); ++cgroup)
    for (const std::string& tree : layout_.workload_trees()) std::filesystem::remove(tree + '/' + *cgroup, ignored);
}

std::vector<state::Pod> PodTree::pods() const {
  std::vector<state::Pod> pods;
  for (int i = 0; i < pods_; ++i) {
    state::Pod pod;
    pod.uid = pod.name = "pod" + std::to_string(i);
    pod.cgroup_dir = root_ + "/" + pod.uid;
    for (int c = 0; c < kContainersPerPod; ++c) {
      state::Container container;
      container.name = "c" + std::to_string(c);
      container.id = "containerd://" + pod.uid + container.name;
      container.cgroup_dir = pod.cgroup_dir + "/" + container.name;
      pod.containers.push_back(std::move(container));
    }
    pods.push_back(std::move(pod));
  }
  return pods;
}

void PodTree::add(const std::string& cgroup) {
  for (const std::string& tree : layout_.workload_trees()) {
    std::filesystem::create_directory(tree + '/' + cgroup);
    // Only v2 has this file.
    (void)write_value(tree + '/' + cgroup + "/cgroup.subtree_control", "+cpu +memory").has_value();
  }
  cgroups_.push_back(cgroup);
}

}  // namespace koord::bench
