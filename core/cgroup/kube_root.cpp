// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/kube_root.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::cgroup {
namespace {

bool tree_holds_pods(const std::string& tree, const KubeRoot& root) {
  for (KubeQos qos : {KubeQos::guaranteed, KubeQos::burstable, KubeQos::best_effort}) {
    Result<std::vector<std::string>> names = list_subdirectories(tree + '/' + qos_dir(root, qos));
    if (!names) continue;
    for (const std::string& name : *names) {
      if (parse_pod_dir(root, qos, name)) return true;
    }
  }
  return false;
}

}  // namespace

Result<KubeRoot> kube_root_below(Driver driver, std::string_view cgroup_root) {
  std::string_view path = cgroup_root;
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.empty()) return default_kube_root(driver);
  if (!is_cgroup(path))
    return invalid("cgroupRoot '" + std::string(cgroup_root.substr(0, 96)) +
                   "' is not the path of a cgroup, as /kubelet is");
  if (driver == Driver::cgroupfs) return KubeRoot{driver, std::string(path) + "/kubepods"};
  std::string dir, stem;
  for (std::string part : split(path, '/')) {
    std::replace(part.begin(), part.end(), '-', '_');
    stem += part;
    dir += stem + ".slice/";
    stem += '-';
  }
  return KubeRoot{driver, dir + stem + "kubepods.slice"};
}

bool holds_pods(const Layout& layout, const KubeRoot& root) {
  return std::any_of(layout.workload_trees().begin(), layout.workload_trees().end(),
                     [&](const std::string& tree) { return tree_holds_pods(tree, root); });
}

KubeRoot choose_kube_root(const Layout& layout, const std::optional<KubeRoot>& reported) {
  if (reported && holds_pods(layout, *reported)) return *reported;
  const std::vector<KubeRoot> found = find_kube_roots(layout);
  const bool other_holds_pods = !found.empty() && holds_pods(layout, found.front());
  if (reported && !other_holds_pods) return *reported;
  return found.empty() ? default_kube_root(Driver::systemd) : found.front();
}

}  // namespace koord::cgroup
