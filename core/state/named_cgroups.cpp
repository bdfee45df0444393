// SPDX-License-Identifier: Apache-2.0
#include "core/state/named_cgroups.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace koord::state {
namespace {

Error wrong(const Pod& pod, std::string_view annotation, const std::string& why) {
  return invalid("pod " + full_name(pod) + ": annotation " + std::string(annotation) + " " + why);
}

// Returns the rest of the annotation after kCgroupAnnotation: empty for the pod, or the name of a container. nullopt:
// it is a different annotation.
std::optional<std::string_view> part_of(std::string_view annotation) {
  if (!annotation.starts_with(kCgroupAnnotation)) return std::nullopt;
  annotation.remove_prefix(kCgroupAnnotation.size());
  if (annotation.empty()) return annotation;
  if (annotation[0] != '.') return std::nullopt;
  return annotation.substr(1);
}

Result<void> take(Pod& pod, const std::string& annotation, std::string_view part, const std::string& dir) {
  if (dir.empty() || !cgroup::is_cgroup(dir))
    return wrong(pod, annotation, "is '" + dir + "', expected a cgroup as \"batch.slice\", without a slash before it");
  if (part.empty()) {
    pod.cgroup_dir = dir;
    return {};
  }
  const auto container =
      std::find_if(pod.containers.begin(), pod.containers.end(), [part](const Container& c) { return c.name == part; });
  if (container == pod.containers.end()) return wrong(pod, annotation, "names a container that the pod does not have");
  container->cgroup_dir = dir;
  if (container->state == ContainerState::unknown) container->state = ContainerState::running;
  return {};
}

Result<void> take(Pod& pod) {
  bool is_first = true;
  for (const auto& [annotation, dir] : pod.annotations) {
    const std::optional<std::string_view> part = part_of(annotation);
    if (!part) continue;
    if (std::exchange(is_first, false)) {
      pod.cgroup_dir.clear();
      for (Container& container : pod.containers) container.cgroup_dir.clear();
    }
    TRY(take(pod, annotation, *part, dir));
  }
  if (is_first) return {};
  if (pod.cgroup_dir.empty()) return wrong(pod, kCgroupAnnotation, "is missing: only containers have one");
  for (const Container& container : pod.containers)
    if (!container.cgroup_dir.empty() && !container.cgroup_dir.starts_with(pod.cgroup_dir + "/"))
      return wrong(pod, std::string(kCgroupAnnotation) + "." + container.name,
                   "is '" + container.cgroup_dir + "', expected a cgroup below the pod's, '" + pod.cgroup_dir + "'");
  if (pod.phase == Phase::unknown) pod.phase = Phase::running;
  return {};
}

}  // namespace

bool names_cgroups(const Pod& pod) {
  return std::any_of(pod.annotations.begin(), pod.annotations.end(),
                     [](const auto& annotation) { return part_of(annotation.first).has_value(); });
}

Result<void> take_named_cgroups(std::vector<Pod>& pods) {
  std::set<std::string_view> seen;
  for (Pod& pod : pods) {
    TRY(take(pod));
    for (const Container& container : pod.containers)
      if (!container.cgroup_dir.empty() && !seen.insert(container.cgroup_dir).second)
        return wrong(pod, kCgroupAnnotation, "names '" + container.cgroup_dir + "' a second time");
    if (!pod.cgroup_dir.empty() && !seen.insert(pod.cgroup_dir).second)
      return wrong(pod, kCgroupAnnotation, "names '" + pod.cgroup_dir + "' a second time");
  }
  return {};
}

}  // namespace koord::state
