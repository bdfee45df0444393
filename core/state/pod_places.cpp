// SPDX-License-Identifier: Apache-2.0
#include "core/state/pod_places.hpp"

#include <algorithm>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/state/pod_object.hpp"

namespace koord::state {
namespace {

bool exists_in(const cgroup::Layout& layout, const std::string& cgroup) {
  return std::any_of(layout.workload_trees().begin(), layout.workload_trees().end(),
                     [&](const std::string& tree) { return bool(open_directory(tree + '/' + cgroup)); });
}

std::size_t count_in(const cgroup::Layout& layout, const cgroup::KubeRoot& root, const std::vector<Pod>& listed,
                     std::string_view node) {
  return static_cast<std::size_t>(std::count_if(listed.begin(), listed.end(), [&](const Pod& pod) {
    Pod placed;
    placed.uid = pod.uid;
    placed.kube_qos = pod.kube_qos;
    placed.annotations = pod.annotations;
    placed.owner_kind = pod.owner_kind;
    placed.owner_name = pod.owner_name;
    return place_in_cgroups(placed, root, node) && exists_in(layout, placed.cgroup_dir);
  }));
}

}  // namespace

PodPlaces find_pods(const cgroup::Layout& layout, const cgroup::KubeRoot& guess, const std::vector<Pod>& listed,
                    std::string_view node) {
  std::vector<cgroup::KubeRoot> roots = cgroup::find_kube_roots(layout);
  std::erase_if(roots,
                [&](const cgroup::KubeRoot& root) { return root == guess || !cgroup::holds_pods(layout, root); });
  PodPlaces places{guess, {}};
  if (roots.empty()) return places;
  std::size_t most = count_in(layout, guess, listed, node);
  for (const cgroup::KubeRoot& root : roots) {
    const std::size_t count = count_in(layout, root, listed, node);
    if (count <= most) continue;
    most = count;
    places.root = root;
  }
  if (cgroup::holds_pods(layout, guess)) roots.push_back(guess);
  for (const cgroup::KubeRoot& root : roots)
    if (root != places.root) places.others.push_back(root.dir);
  return places;
}

std::string describe_others(const PodPlaces& places) {
  if (places.others.empty()) return {};
  return "the pods of this node are below '" + places.root.dir +
         "'; other trees hold pods, too, and are left out of account: " + join(places.others, ", ");
}

}  // namespace koord::state
