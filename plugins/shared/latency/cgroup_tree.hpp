// SPDX-License-Identifier: Apache-2.0
// CgroupTree: the hierarchy in which a controller's events are accounted. It is the controller's own hierarchy on
// cgroup v1, otherwise the v2 tree. Maps the agent's names of cgroups (directories relative to the root) to the
// kernel's ids (the inode numbers of the directories). [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace koord::latency {

struct CgroupDirectory {
  std::uint64_t id = 0;
  std::string path;  // absolute
};

class CgroupTree {
 public:
  // Finds the hierarchy. `controller`: its v1 name, "cpu", "memory" or "blkio". `cgroup_root`: where the trees are
  // mounted. `proc`: self/cgroup in it has the hierarchy's number.
  static Result<CgroupTree> find(std::string_view controller, const std::string& cgroup_root, const std::string& proc);

  // Returns the number of the hierarchy in /proc/self/cgroup; 0 is cgroup v2.
  int hierarchy_id() const { return hierarchy_id_; }
  // Returns the name of the file in a cgroup that lists its threads.
  const char* threads_file() const { return hierarchy_id_ == 0 ? "cgroup.threads" : "tasks"; }

  std::string path(std::string_view cgroup) const;

  // Returns the cgroup and all cgroups below it, because a container may create its own. Empty if the cgroup is gone.
  std::vector<CgroupDirectory> subtree(std::string_view cgroup) const;
  // Returns the cgroup alone.
  Result<CgroupDirectory> directory(std::string_view cgroup) const;

 private:
  CgroupTree(std::string root, int hierarchy_id) : root_(std::move(root)), hierarchy_id_(hierarchy_id) {}

  std::string root_;
  int hierarchy_id_;
};

}  // namespace koord::latency
