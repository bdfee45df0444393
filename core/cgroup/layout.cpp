// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/layout.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::cgroup {
namespace {
namespace fs = std::filesystem;

constexpr std::array<Controller, kControllers> kAll = {Controller::core,   Controller::cpu,    Controller::cpuacct,
                                                       Controller::cpuset, Controller::memory, Controller::pids,
                                                       Controller::blkio,  Controller::net_cls};

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool lists(std::string_view names, char separator, std::string_view wanted) {
  while (auto name = next_field(names, separator)) {
    if (trim(*name) == wanted) return true;
  }
  return false;
}

// Returns "<root>/cpu", or a co-mounted "<root>/cpu,cpuacct" if no link with the plain name exists.
std::string find_v1_mount(const std::string& root, const std::vector<std::string>& entries, Controller controller) {
  std::string_view name = name_of(controller);
  std::string plain = root + '/' + std::string(name);
  if (is_directory(plain)) return plain;
  for (const std::string& entry : entries) {
    if (lists(entry, ',', name) && is_directory(root + '/' + entry)) return root + '/' + entry;
  }
  return {};
}

std::string join_path(const std::string& tree, std::string_view cgroup) {
  return cgroup.empty() ? tree : tree + '/' + std::string(cgroup);
}

}  // namespace

std::string_view name_of(Controller controller) {
  switch (controller) {
    case Controller::core:
      return "core";
    case Controller::cpu:
      return "cpu";
    case Controller::cpuacct:
      return "cpuacct";
    case Controller::cpuset:
      return "cpuset";
    case Controller::memory:
      return "memory";
    case Controller::pids:
      return "pids";
    case Controller::blkio:
      return "blkio";
    case Controller::net_cls:
      return "net_cls";
  }
  return "?";
}

std::string_view name_of(Hierarchy hierarchy) {
  switch (hierarchy) {
    case Hierarchy::v1:
      return "v1";
    case Hierarchy::v2:
      return "v2";
    case Hierarchy::hybrid:
      return "hybrid";
  }
  return "?";
}

Result<Layout> Layout::detect(const NodeRoots& roots) {
  const std::string& root = roots.cgroup;
  std::vector<std::string> entries = TRY(list_directory(root));
  bool v2_root = exists(root + "/cgroup.controllers");
  Layout layout;
  bool any_v1 = false;
  for (Controller controller : kAll) {
    if (controller == Controller::core) continue;
    std::string mount = find_v1_mount(root, entries, controller);
    // Below a v2 root a directory of this name may be an ordinary cgroup. Only a v1 tree has a file `tasks`.
    if (mount.empty() || (v2_root && !exists(mount + "/tasks"))) continue;
    layout.tree(controller) = {mount, Version::v1};
    any_v1 = any_v1 || controller != Controller::net_cls;
  }
  std::string unified = v2_root ? root : root + "/unified";
  if (Result<std::string> controllers = read_file(unified + "/cgroup.controllers"))
    layout.adopt_unified(unified, *controllers);
  if (!any_v1 && layout.unified_.empty())
    return not_found("no cgroup tree at '" + root +
                     "', expected a file 'cgroup.controllers' or directories such as 'cpu' and 'memory'");
  layout.hierarchy_ = layout.unified_.empty() ? Hierarchy::v1 : any_v1 ? Hierarchy::hybrid : Hierarchy::v2;
  layout.collect_workload_trees();
  return layout;
}

// Adds the v2 tree with the controllers that v1 does not have. Every v2 cgroup accounts CPU time, even without
// controllers.
void Layout::adopt_unified(const std::string& path, std::string_view controllers) {
  unified_ = path;
  tree(Controller::core) = {path, Version::v2};
  if (tree(Controller::cpuacct).path.empty()) tree(Controller::cpuacct) = {path, Version::v2};
  for (Controller controller : kAll) {
    std::string_view name = controller == Controller::blkio ? "io" : name_of(controller);
    if (tree(controller).path.empty() && lists(controllers, ' ', name)) tree(controller) = {path, Version::v2};
  }
}

void Layout::collect_workload_trees() {
  for (Controller controller : {Controller::cpu, Controller::cpuacct, Controller::memory}) {
    const std::string& path = tree(controller).path;
    std::error_code ignored;
    bool known = std::any_of(workload_trees_.begin(), workload_trees_.end(), [&](const std::string& other) {
      return path == other || fs::equivalent(path, other, ignored);
    });
    if (!path.empty() && !known) workload_trees_.push_back(path);
  }
}

std::optional<Version> Layout::version(Controller controller) const {
  const Tree& found = tree(controller);
  return found.path.empty() ? std::nullopt : std::optional(found.version);
}

std::string Layout::directory(Controller controller, std::string_view cgroup) const {
  const Tree& found = tree(controller);
  return found.path.empty() ? std::string() : join_path(found.path, cgroup);
}

std::string Layout::unified_directory(std::string_view cgroup) const {
  return unified_.empty() ? std::string() : join_path(unified_, cgroup);
}

}  // namespace koord::cgroup
