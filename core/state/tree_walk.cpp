// SPDX-License-Identifier: Apache-2.0
#include "core/state/tree_walk.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/base/parse.hpp"
#include "core/cgroup/names.hpp"

namespace koord::state {
namespace {

constexpr std::size_t kTreeShortId = 12;
constexpr int kMaxDepth = 16;

bool is_directory(DIR* parent, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat info;
  return ::fstatat(::dirfd(parent), entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
}

std::string join_cgroup(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + '/' + name;
}

Container make_container(const cgroup::ContainerName& found, std::string dir) {
  Container container;
  container.id = found.full_id();
  container.name = found.id.substr(0, kTreeShortId);
  container.state = ContainerState::running;
  container.cgroup_dir = std::move(dir);
  return container;
}

Container make_named(ContainerKind kind, std::string_view scheme, std::string name, std::string dir,
                     std::uint64_t inode) {
  Container container;
  container.id = std::string(scheme) + name;
  container.name = std::move(name);
  container.kind = kind;
  container.state = ContainerState::running;
  container.cgroup_dir = std::move(dir);
  container.incarnation = inode;
  return container;
}

// Finds containers, and also services below system.slice. Descends into slices and user managers.
class StandaloneWalk {
 public:
  explicit StandaloneWalk(const cgroup::Layout& layout) : layout_(layout) {}

  std::vector<Container> run() {
    for (const auto& [name, inode] : list_children(layout_, "")) {
      if (name == "docker") {
        bare_ids(name, "docker");
      } else if (name == "libpod_parent" || name.ends_with(".slice")) {
        below(name, name == "system.slice", 1);
      }
    }
    return std::move(found_);
  }

 private:
  void bare_ids(const std::string& parent, const char* scheme) {
    for (const auto& [name, inode] : list_children(layout_, parent)) {
      if (cgroup::is_container_hash(name)) found_.push_back(make_container({scheme, name}, join_cgroup(parent, name)));
    }
  }

  void below(const std::string& parent, bool services, int depth) {
    for (const auto& [name, inode] : list_children(layout_, parent)) {
      std::string dir = join_cgroup(parent, name);
      if (std::optional<cgroup::ContainerName> container = cgroup::parse_scope(name)) {
        if (!container->helper) found_.push_back(make_container(*container, dir));
      } else if (services && name.ends_with(".service")) {
        found_.push_back(make_named(ContainerKind::service, "systemd://", name, dir, inode));
      } else if (descends(name) && depth < kMaxDepth) {
        below(dir, services, depth + 1);
      }
    }
  }

  static bool descends(std::string_view name) {
    bool kube = name.find("kubepods") != std::string_view::npos;
    bool user_manager = name.starts_with("user@") && name.ends_with(".service");
    return user_manager || (name.ends_with(".slice") && !kube);
  }

  const cgroup::Layout& layout_;
  std::vector<Container> found_;
};

bool matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0;
}

}  // namespace

Children list_children(const std::string& directory) {
  Children children;
  std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(directory.c_str()), &::closedir);
  if (!dir) return children;
  while (const dirent* entry = ::readdir(dir.get())) {
    std::string_view name = entry->d_name;
    if (name != "." && name != ".." && is_directory(dir.get(), *entry)) children.emplace(name, entry->d_ino);
  }
  return children;
}

Children list_children(const cgroup::Layout& layout, const std::string& cgroup) {
  Children all;
  for (const std::string& tree : layout.workload_trees()) all.merge(list_children(join_cgroup(tree, cgroup)));
  return all;
}

std::vector<Container> walk_standalone(const cgroup::Layout& layout) { return StandaloneWalk(layout).run(); }

std::vector<Container> walk_pattern(const cgroup::Layout& layout, const std::string& path) {
  std::vector<std::pair<std::string, std::uint64_t>> matched = {{"", 0}};
  for (const std::string& pattern : split(path, '/')) {
    std::vector<std::pair<std::string, std::uint64_t>> next;
    for (const auto& [parent, parent_inode] : matched) {
      for (const auto& [name, inode] : list_children(layout, parent)) {
        if (matches(pattern, name)) next.emplace_back(join_cgroup(parent, name), inode);
      }
    }
    matched = std::move(next);
  }
  std::vector<Container> found;
  for (auto& [dir, inode] : matched)
    if (!dir.empty()) found.push_back(make_named(ContainerKind::cgroup, "cgroup://", dir, dir, inode));
  return found;
}

}  // namespace koord::state
