// SPDX-License-Identifier: Apache-2.0
// Layout: where each controller's tree is mounted on this node: cgroup v1, cgroup v2, or both at once. Found
// once at start and again when the mounts change; everything else asks it for directories. Cgroups are named
// by their directory relative to the hierarchy's root, without a leading slash; "" is the root. Immutable:
// [any thread].
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/node_roots.hpp"
#include "core/base/result.hpp"

namespace koord::cgroup {

// `core` are the files of cgroup v2 that no controller owns: cgroup.procs, the pressure files. net_cls exists on v1
// only.
enum class Controller { core, cpu, cpuacct, cpuset, memory, pids, blkio, net_cls };
inline constexpr std::size_t kControllers = 8;

std::string_view name_of(Controller controller);

enum class Version { v1, v2 };

// hybrid: controllers on v1 beside a v2 tree, whether that tree has controllers of its own or not. net_cls on v1 does
// not make a node hybrid: v2 does not have it, so nodes on v2 mount it beside their tree.
enum class Hierarchy { v1, v2, hybrid };

std::string_view name_of(Hierarchy hierarchy);

class Layout {
 public:
  // Judges by the files that are there, so that a fake tree does as well as a mount:
  // `cgroup.controllers` at the root means v2, a directory named after a controller means v1.
  static Result<Layout> detect(const NodeRoots& roots);

  Hierarchy hierarchy() const { return hierarchy_; }

  // How the kernel offers a controller on this node; nullopt when it does not.
  std::optional<Version> version(Controller controller) const;

  // Absolute path of a cgroup in the controller's tree; empty when the node does not have the controller.
  std::string directory(Controller controller, std::string_view cgroup) const;

  // Returns the v2 tree, which may be one without controllers; empty if missing.
  std::string unified_directory(std::string_view cgroup) const;

  // The distinct trees in which workloads show: those of cpu, cpuacct and memory, as absolute paths. One on
  // v2.
  const std::vector<std::string>& workload_trees() const { return workload_trees_; }

 private:
  struct Tree {
    std::string path;  // empty: not there
    Version version = Version::v1;
  };

  const Tree& tree(Controller controller) const { return trees_[static_cast<std::size_t>(controller)]; }
  Tree& tree(Controller controller) { return trees_[static_cast<std::size_t>(controller)]; }
  void adopt_unified(const std::string& path, std::string_view controllers);
  void collect_workload_trees();

  Hierarchy hierarchy_ = Hierarchy::v1;
  std::array<Tree, kControllers> trees_;
  std::string unified_;
  std::vector<std::string> workload_trees_;
};

}  // namespace koord::cgroup
