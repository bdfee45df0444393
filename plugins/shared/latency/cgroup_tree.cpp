// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/latency/cgroup_tree.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::latency {
namespace {

struct Hierarchy {
  int id = 0;
  std::string controllers;
};

bool has(std::string_view controllers, std::string_view controller) {
  while (auto name = next_field(controllers, ','))
    if (*name == controller) return true;
  return false;
}

// Finds the line "id:controllers:path" that names the controller. On cgroup v2 no line does.
Result<Hierarchy> hierarchy_of(std::string_view controller, std::string_view self_cgroup) {
  while (auto line = next_field(self_cgroup, '\n')) {
    auto id = next_field(*line, ':');
    auto controllers = next_field(*line, ':');
    if (!id || !controllers || !has(*controllers, controller)) continue;
    return Hierarchy{static_cast<int>(TRY(parse_int(*id))), std::string(*controllers)};
  }
  return Hierarchy{};
}

std::optional<std::string> first_that_exists(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    if (std::filesystem::exists(path)) return path.substr(0, path.rfind('/'));
  return std::nullopt;
}

// Collects the directory and all directories below it. kernfs reports a link count of 2 + subdirectories, so most
// directories need no listing.
void collect(const std::string& path, std::vector<CgroupDirectory>& found) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return;
  found.push_back({status.st_ino, path});
  if (status.st_nlink <= 2) return;
  auto names = list_subdirectories(path);
  if (!names) return;
  for (const std::string& name : *names) collect(path + "/" + name, found);
}

}  // namespace

Result<CgroupTree> CgroupTree::find(std::string_view controller, const std::string& cgroup_root,
                                    const std::string& proc) {
  const std::string self_cgroup = TRY(read_file(proc + "/self/cgroup"));
  const Hierarchy own = TRY(hierarchy_of(controller, self_cgroup));
  std::vector<std::string> candidates = {cgroup_root + "/cgroup.procs", cgroup_root + "/unified/cgroup.procs"};
  if (own.id != 0)
    candidates = {cgroup_root + "/" + std::string(controller) + "/tasks",
                  cgroup_root + "/" + own.controllers + "/tasks"};
  auto root = first_that_exists(candidates);
  if (!root)
    return not_found("no tree of the " + std::string(controller) + " controller at " + join(candidates, " or "));
  return CgroupTree(*root, own.id);
}

std::string CgroupTree::path(std::string_view cgroup) const {
  return cgroup.empty() ? root_ : root_ + "/" + std::string(cgroup);
}

std::vector<CgroupDirectory> CgroupTree::subtree(std::string_view cgroup) const {
  std::vector<CgroupDirectory> found;
  collect(path(cgroup), found);
  return found;
}

Result<CgroupDirectory> CgroupTree::directory(std::string_view cgroup) const {
  std::string where = path(cgroup);
  struct stat status;
  if (::stat(where.c_str(), &status) != 0) return system_error(errno, "cannot find the cgroup '" + where + "'");
  return CgroupDirectory{status.st_ino, where};
}

}  // namespace koord::latency
