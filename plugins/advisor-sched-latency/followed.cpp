// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sched-latency/followed.hpp"

#include <algorithm>

namespace koord::sched_latency {

void Followed::find_cgroups(const CgroupTree& tree, std::vector<CgroupDirectory>& watched) {
  before_ = std::move(now_);
  now_.clear();
  for (CgroupDirectory& directory : tree.subtree(cgroup_)) {
    now_.push_back(directory.id);
    watched.push_back(std::move(directory));
  }
}

Histogram Followed::window(const Windows& windows) const {
  Histogram sum;
  for (std::uint64_t id : now_) sum += windows.of(id);
  for (std::uint64_t id : before_)
    if (std::find(now_.begin(), now_.end(), id) == now_.end()) sum += windows.of(id);
  return sum;
}

}  // namespace koord::sched_latency
