// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-memory-events/cgroup_index.hpp"

namespace koord::memory_events {
namespace {

// No runtime nests deeper. The limit bounds the cost of a long path.
constexpr int kMaxDepth = 64;

}  // namespace

void CgroupIndex::add(std::string_view dir, Owner owner) {
  if (!dir.empty()) owners_.insert_or_assign(std::string(dir), owner);
}

Owner CgroupIndex::find(std::string_view kernel_path) const {
  while (kernel_path.starts_with('/')) kernel_path.remove_prefix(1);
  Owner owner = find_prefix(kernel_path);
  // A pod's directory has a unique name; "system.slice/x.service" may also be inside a container.
  for (int depth = 0; depth < kMaxDepth && owner.container == 0 && owner.pod == 0; ++depth) {
    const std::size_t slash = kernel_path.find('/');
    if (slash == std::string_view::npos) break;
    kernel_path.remove_prefix(slash + 1);
    if (const Owner deeper = find_prefix(kernel_path); deeper.pod != 0) owner = deeper;
  }
  return owner;
}

Owner CgroupIndex::find_prefix(std::string_view path) const {
  bool below = false;
  for (int depth = 0; depth < kMaxDepth && !path.empty(); ++depth) {
    if (auto at = owners_.find(std::string(path)); at != owners_.end()) {
      Owner owner = at->second;
      owner.below = below;
      return owner;
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) break;
    path = path.substr(0, slash);
    below = true;
  }
  return {};
}

}  // namespace koord::memory_events
