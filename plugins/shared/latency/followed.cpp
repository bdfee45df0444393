// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/followed.hpp"

#include <algorithm>

namespace koord::latency {

void FollowedCgroups::find(const CgroupTree& tree, std::string_view cgroup, std::vector<CgroupDirectory>& watched) {
  gone_ = std::move(now_);
  now_.clear();
  for (CgroupDirectory& directory : tree.subtree(cgroup)) {
    now_.push_back(directory.id);
    watched.push_back(std::move(directory));
  }
  std::erase_if(gone_, [this](std::uint64_t id) { return std::find(now_.begin(), now_.end(), id) != now_.end(); });
}

}  // namespace koord::latency
