// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/cgroup/names.hpp"
#include "core/state/classes.hpp"
#include "core/state/tree_walk.hpp"

namespace koord::state {
namespace {

constexpr std::size_t kShortId = 12;

class PodWalk {
 public:
  PodWalk(std::string tree, cgroup::KubeRoot root, const std::string& runtime)
      : tree_(std::move(tree)), root_(std::move(root)), runtime_(runtime) {}

  void collect(std::vector<Pod>& pods) const {
    for (KubeQos qos : {KubeQos::guaranteed, KubeQos::burstable, KubeQos::best_effort}) {
      for (const auto& [name, inode] : list_children(tree_ + '/' + cgroup::qos_dir(root_, qos))) {
        if (std::optional<std::string> uid = cgroup::parse_pod_dir(root_, qos, name))
          pods.push_back(make_pod(qos, *std::move(uid)));
      }
    }
  }

 private:
  // The cgroup tree has no labels, so the classes follow from the Kubernetes QoS.
  Pod make_pod(KubeQos qos, std::string uid) const {
    Pod pod;
    pod.cgroup_dir = cgroup::pod_dir(root_, qos, uid);
    pod.name = uid;
    pod.uid = std::move(uid);
    pod.kube_qos = qos;
    pod.koord_qos = koord_qos(pod.labels, qos);
    pod.priority_class = priority_class(pod.labels, pod.priority, pod.koord_qos);
    pod.phase = Phase::running;
    for (const auto& [name, inode] : list_children(tree_ + '/' + pod.cgroup_dir)) {
      std::optional<cgroup::ContainerName> found = cgroup::parse_container_dir(root_.driver, name);
      if (found) pod.containers.push_back(make_container(*std::move(found), pod.cgroup_dir + '/' + name));
    }
    return pod;
  }

  Container make_container(cgroup::ContainerName found, std::string dir) const {
    if (found.scheme.empty()) found.scheme = runtime_;
    Container container;
    container.id = found.full_id();
    container.name = found.id.substr(0, kShortId);
    container.kind = found.helper ? ContainerKind::sandbox : ContainerKind::regular;
    container.state = ContainerState::running;
    container.cgroup_dir = std::move(dir);
    return container;
  }

  std::string tree_;
  cgroup::KubeRoot root_;
  const std::string& runtime_;
};

}  // namespace

std::vector<Pod> walk_pods(const cgroup::Layout& layout, const std::string& runtime) {
  std::vector<Pod> pods;
  for (const cgroup::KubeRoot& root : cgroup::find_kube_roots(layout)) {
    for (const std::string& tree : layout.workload_trees()) {
      std::size_t before = pods.size();
      PodWalk(tree, root, runtime).collect(pods);
      if (pods.size() > before) break;  // all trees have the same pods
    }
  }
  return pods;
}

}  // namespace koord::state
