// SPDX-License-Identifier: Apache-2.0
#include "core/child/orphans.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/child/end_processes.hpp"
#include "core/child/plugins_cgroup.hpp"

namespace koord::child {
namespace {

using cgroup::Controller;

constexpr Duration kOrphanPatience = std::chrono::seconds(1);

// Returns whether another agent holds the lock. Returns true on errors, too, because the processes of another agent
// must not be killed.
bool is_locked_by_other(const UniqueFd& directory) { return ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0; }

// Returns whether the path still leads to the opened directory. It may have been removed and made again.
bool is_still(const UniqueFd& opened, const std::string& path) {
  struct stat one, other;
  return ::fstat(opened.get(), &one) == 0 && ::stat(path.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

// Returns all trees that may have cgroups of plugins, each once. Trees in which forking can be stopped come first.
std::vector<std::string> plugin_trees(const cgroup::Layout& layout) {
  std::vector<std::string> trees;
  for (const std::string& cgroup : possible_plugins_cgroups(layout)) trees.push_back(layout.unified_directory(cgroup));
  for (Controller controller : {Controller::pids, Controller::memory, Controller::cpu})
    if (std::string tree = layout.directory(controller, kPluginsCgroup);
        std::find(trees.begin(), trees.end(), tree) == trees.end())
      trees.push_back(std::move(tree));
  std::erase(trees, "");
  return trees;
}

}  // namespace

UniqueFd lock_cgroup(const std::string& directory) {
  auto opened = open_directory(directory);
  if (!opened) return {};
  while (::flock(opened->get(), LOCK_SH) != 0 && errno == EINTR) {
  }
  return is_still(*opened, directory) ? std::move(*opened) : UniqueFd();
}

Removal remove_unlocked_cgroup(const std::string& directory) {
  const auto opened = open_directory(directory);
  if (!opened) return Removal::done;
  if (is_locked_by_other(*opened) || !is_still(*opened, directory)) return Removal::locked;
  return ::rmdir(directory.c_str()) != 0 && errno == EBUSY ? Removal::busy : Removal::done;
}

std::size_t end_orphans(const cgroup::Layout& layout) {
  std::size_t ended = 0;
  for (const std::string& plugins : plugin_trees(layout)) {
    for (const std::string& plugin : list_subdirectories(plugins).value_or({})) {
      const std::string directory = plugins + "/" + plugin;
      auto opened = open_directory(directory);
      if (!opened || is_locked_by_other(*opened) || !is_still(*opened, directory)) continue;
      ended += end_processes(directory, kOrphanPatience).count;
      remove_cgroup(directory);
    }
    ::rmdir(plugins.c_str());  // succeeds only if it is empty
  }
  return ended;
}

}  // namespace koord::child
