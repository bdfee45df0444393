// SPDX-License-Identifier: Apache-2.0
#include "core/state/sandboxes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/cgroup/names.hpp"
#include "core/state/named_cgroups.hpp"
#include "core/state/tree_walk.hpp"

namespace koord::state {
namespace {

cgroup::Driver driver_of(const Pod& pod) {
  return pod.cgroup_dir.ends_with(".slice") ? cgroup::Driver::systemd : cgroup::Driver::cgroupfs;
}

// Returns the scheme of the container ids. The directory names of the cgroupfs driver do not show the runtime, so it is
// taken from the pod's listed containers.
std::string scheme_of(const Pod& pod) {
  for (const Container& container : pod.containers) {
    const std::size_t colon = container.id.find("://");
    if (colon != std::string::npos) return container.id.substr(0, colon);
  }
  return {};
}

bool is_listed(const Pod& pod, const std::string& dir) {
  return std::any_of(pod.containers.begin(), pod.containers.end(),
                     [&](const Container& container) { return container.cgroup_dir == dir; });
}

// Returns the containers in the pod's directory that are missing from the list.
std::vector<Container> unlisted(const Pod& pod, const cgroup::Layout& layout) {
  std::vector<Container> found;
  for (const auto& [name, inode] : list_children(layout, pod.cgroup_dir)) {
    std::optional<cgroup::ContainerName> container = cgroup::parse_container_dir(driver_of(pod), name);
    std::string dir = pod.cgroup_dir + '/' + name;
    if (!container || container->helper || is_listed(pod, dir)) continue;
    if (container->scheme.empty()) container->scheme = scheme_of(pod);
    Container sandbox;
    sandbox.id = container->full_id();
    sandbox.name = Sandboxes::kName;
    sandbox.kind = ContainerKind::sandbox;
    sandbox.state = ContainerState::running;
    sandbox.cgroup_dir = std::move(dir);
    // A container may be taken for a sandbox by mistake. The inode gives it a different handle when it is listed later.
    sandbox.incarnation = inode;
    found.push_back(std::move(sandbox));
  }
  return found;
}

}  // namespace

void Sandboxes::add_to(std::vector<Pod>& pods, const cgroup::Layout& layout) {
  std::map<std::string, std::string> found;
  for (Pod& pod : pods) {
    if (pod.cgroup_dir.empty() || names_cgroups(pod)) continue;
    std::vector<Container> candidates = unlisted(pod, layout);
    const auto before = found_.find(pod.uid);
    auto sandbox = std::find_if(candidates.begin(), candidates.end(), [&](const Container& candidate) {
      return before != found_.end() && candidate.cgroup_dir == before->second;
    });
    if (sandbox == candidates.end() && candidates.size() == 1) sandbox = candidates.begin();
    if (sandbox == candidates.end()) continue;
    found[pod.uid] = sandbox->cgroup_dir;
    pod.containers.push_back(std::move(*sandbox));
  }
  found_ = std::move(found);
}

std::vector<std::string> unnamed_cgroups(const Pod& pod, const cgroup::Layout& layout) {
  std::vector<std::string> found;
  for (const Container& container : unlisted(pod, layout)) {
    const std::string below = container.cgroup_dir + '/';
    const bool is_around = std::any_of(pod.containers.begin(), pod.containers.end(),
                                       [&](const Container& one) { return one.cgroup_dir.starts_with(below); });
    if (!is_around) found.push_back(container.cgroup_dir);
  }
  return found;
}

}  // namespace koord::state
