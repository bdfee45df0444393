// SPDX-License-Identifier: Apache-2.0
#include "core/state/cgroup_source.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/file.hpp"
#include "core/state/tree_walk.hpp"

namespace koord::state {
namespace {

bool any_tree_readable(const cgroup::Layout& layout) {
  return std::any_of(layout.workload_trees().begin(), layout.workload_trees().end(),
                     [](const std::string& tree) { return bool(open_directory(tree)); });
}

// Adds the containers with a cgroup that is not yet in the list. A configured cgroup that is a service or container
// keeps that kind.
void add_unless_known(std::vector<Container>& containers, std::vector<Container> more) {
  for (Container& candidate : more) {
    bool known = std::any_of(containers.begin(), containers.end(),
                             [&](const Container& c) { return c.cgroup_dir == candidate.cgroup_dir; });
    if (!known) containers.push_back(std::move(candidate));
  }
}

}  // namespace

CgroupSource::CgroupSource(cgroup::Layout layout, Options options, Hub& hub)
    : layout_(std::move(layout)), options_(std::move(options)), hub_(hub) {}

Result<void> CgroupSource::refresh() {
  if (!any_tree_readable(layout_)) {
    std::string tree = layout_.workload_trees().empty() ? "" : layout_.workload_trees().front();
    return not_found("cannot list the cgroup tree '" + tree + "'");
  }
  std::vector<Pod> pods = walk_pods(layout_, options_.runtime);
  std::vector<Container> standalone = walk_standalone(layout_);
  for (const std::string& path : options_.paths) add_unless_known(standalone, walk_pattern(layout_, path));
  if (pods.empty() && standalone.empty()) standalone = walk_pattern(layout_, "*");
  Update update;
  update.standalone = std::move(standalone);
  if (options_.pods) update.pods = std::move(pods);
  hub_.publish(std::move(update));
  return {};
}

std::string guess_runtime(const NodeRoots& roots) {
  std::error_code ignored;
  if (std::filesystem::is_directory(roots.run + "/containerd", ignored)) return "containerd";
  if (std::filesystem::is_directory(roots.run + "/crio", ignored)) return "cri-o";
  return {};
}

}  // namespace koord::state
