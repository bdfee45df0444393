// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/container_cgroups.hpp"

#include <algorithm>

namespace koord::interference {

// Cgroups outside of pods may be listed together with an ancestor cgroup. The innermost cgroup counts, which has the
// longest path.
void ContainerCgroups::refresh(const std::vector<KnownContainer>& containers) {
  std::vector<const KnownContainer*> outer_first;
  for (const KnownContainer& container : containers)
    if (!container.cgroup_dir.empty()) outer_first.push_back(&container);
  std::stable_sort(outer_first.begin(), outer_first.end(), [](const KnownContainer* a, const KnownContainer* b) {
    return a->cgroup_dir.size() < b->cgroup_dir.size();
  });
  ContainerOfCgroup found;
  for (const KnownContainer* container : outer_first)
    for (const latency::CgroupDirectory& directory : tree_.subtree(container->cgroup_dir))
      found[directory.id] = container->handle;
  container_of_ = found;
  for (const auto& ended : found_) container_of_.insert(ended);
  found_ = std::move(found);
}

}  // namespace koord::interference
