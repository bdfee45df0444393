// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/node/kube_roots.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace koord::kube {
namespace {

using cgroup::Driver;
using cgroup::KubeQos;
using cgroup::KubeRoot;

// Returns the parent directory, or "" if the directory has no parent.
std::string_view parent_of(std::string_view dir) {
  const std::size_t slash = dir.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : dir.substr(0, slash);
}

// Returns the kubelet's directory of a pod. A guaranteed pod is directly below it, other pods are in the directory of
// their QoS class.
std::string_view root_dir_of(const PodPlace& pod) {
  if (pod.qos == KubeQos::unknown) return {};
  const std::string_view parent = parent_of(pod.cgroup_dir);
  return pod.qos == KubeQos::guaranteed ? parent : parent_of(parent);
}

KubeRoot root_at(std::string_view dir) {
  return {dir.ends_with(".slice") ? Driver::systemd : Driver::cgroupfs, std::string(dir)};
}

}  // namespace

std::vector<KubeRoot> kube_roots(const std::vector<PodPlace>& pods) {
  std::vector<KubeRoot> roots;
  for (const PodPlace& pod : pods) {
    const std::string_view dir = root_dir_of(pod);
    if (dir.empty()) continue;
    KubeRoot root = root_at(dir);
    if (std::find(roots.begin(), roots.end(), root) == roots.end()) roots.push_back(std::move(root));
  }
  if (!roots.empty()) return roots;
  for (std::string_view dir :
       {"kubepods.slice", "kubepods", "kubelet.slice/kubelet-kubepods.slice", "kubelet/kubepods"})
    roots.push_back(root_at(dir));
  return roots;
}

}  // namespace koord::kube
