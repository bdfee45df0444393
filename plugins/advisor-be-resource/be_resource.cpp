// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-be-resource/be_resource.hpp"

#include <algorithm>

namespace koord::be_resource {
namespace {

using cgroup::Driver;
using cgroup::KubeQos;
using cgroup::KubeRoot;

std::string_view parent_of(std::string_view dir) { return dir.substr(0, dir.rfind('/')); }

// Below the kubelet's directory a guaranteed pod lies by itself, all others in the directory of their class.
std::optional<std::string_view> kube_root_of(const PodPlace& pod) {
  if (pod.qos == KubeQos::unknown || pod.cgroup_dir.find('/') == std::string_view::npos) return std::nullopt;
  std::string_view root = parent_of(pod.cgroup_dir);
  if (pod.qos == KubeQos::guaranteed) return root;
  if (root.find('/') == std::string_view::npos) return std::nullopt;
  return parent_of(root);
}

std::string best_effort_dir(std::string_view kube_root) {
  const Driver driver = kube_root.ends_with(".slice") ? Driver::systemd : Driver::cgroupfs;
  return cgroup::qos_dir({driver, std::string(kube_root)}, KubeQos::best_effort);
}

}  // namespace

std::vector<std::string> best_effort_dirs(const std::vector<PodPlace>& pods) {
  std::vector<std::string> dirs;
  for (const PodPlace& pod : pods) {
    const std::optional<std::string_view> root = kube_root_of(pod);
    if (!root) continue;
    std::string dir = best_effort_dir(*root);
    if (std::find(dirs.begin(), dirs.end(), dir) == dirs.end()) dirs.push_back(std::move(dir));
  }
  if (!dirs.empty()) return dirs;
  for (std::string_view root : {"kubepods.slice", "kubepods", "kubelet.slice/kubelet-kubepods.slice", "kubelet/kubepods"})
    dirs.push_back(best_effort_dir(root));
  return dirs;
}

CpuSet usable_cpus(const CpuSet& directory, const std::vector<CpuSet>& containers) {
  CpuSet any;
  for (const CpuSet& container : containers) any = any | container;
  const CpuSet usable = any & directory;
  return usable.empty() ? directory : usable;
}

std::optional<double> real_limit_milli(std::optional<std::size_t> cpus, std::optional<CpuMax> max) {
  std::optional<double> limit;
  if (cpus) limit = static_cast<double>(*cpus) * 1000;
  if (!max || max->quota_us < 0 || max->period_us <= 0) return limit;
  const double quota = static_cast<double>(max->quota_us) * 1000 / static_cast<double>(max->period_us);
  return limit ? std::min(*limit, quota) : quota;
}

std::optional<double> requested_milli(const std::vector<Pod>& pods) {
  double sum = 0;
  for (const Pod& pod : pods) {
    if (!pod.is_best_effort || pod.has_ended) continue;
    if (!pod.object_known) return std::nullopt;
    for (const Container& container : pod.containers)
      if (container.runs_beside) sum += static_cast<double>(container.batch_cpu_milli.value_or(0));
  }
  return sum;
}

}  // namespace koord::be_resource
