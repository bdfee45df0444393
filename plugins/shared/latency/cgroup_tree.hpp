// SPDX-License-Identifier: Apache-2.0
// The hierarchy in which a controller's events are accounted: the controller's own on cgroup v1, the v2 tree otherwise.
// Maps cgroups between the names used in the agent (directories relative to the root) and the number the kernel knows
// them by, which is the inode number of the directory. [any thread]
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
  // `controller`: as v1 names it, "cpu", "memory", "blkio". `cgroup_root`: where the trees are mounted; `proc`: to
  // learn the hierarchy's number from self/cgroup.
  static Result<CgroupTree> find(std::string_view controller, const std::string& cgroup_root, const std::string& proc);

  // As /proc/self/cgroup numbers it; 0 is cgroup v2.
  int hierarchy_id() const { return hierarchy_id_; }
  // The file of a cgroup that lists its threads.
  const char* threads_file() const { return hierarchy_id_ == 0 ? "cgroup.threads" : "tasks"; }

  std::string path(std::string_view cgroup) const;

  // The cgroup and all below it: a container may divide its own. Empty when it is gone.
  std::vector<CgroupDirectory> subtree(std::string_view cgroup) const;
  // Without those below it.
  Result<CgroupDirectory> directory(std::string_view cgroup) const;

 private:
  CgroupTree(std::string root, int hierarchy_id) : root_(std::move(root)), hierarchy_id_(hierarchy_id) {}

  std::string root_;
  int hierarchy_id_;
};

}  // namespace koord::latency
