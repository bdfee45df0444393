// SPDX-License-Identifier: Apache-2.0
// NodeTree: a directory that looks like a node's /proc, /sys and cgroup mounts, made from literals or from a recording
// and removed with the object:
//
//   NodeTree node({{"cgroup/cgroup.controllers", "cpu memory\n"}, {"cgroup/system.slice/nginx.service/", ""}});
//
// A path that ends in '/' is a directory. The top names are proc, sys, cgroup, resctrl and run. Errors of the disk are
// a std::runtime_error. One thread at a time.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/node_roots.hpp"

namespace koord::workshop {

class NodeTree {
 public:
  NodeTree();
  explicit NodeTree(std::initializer_list<std::pair<std::string_view, std::string_view>> tree);
  ~NodeTree();
  NodeTree(const NodeTree&) = delete;
  NodeTree& operator=(const NodeTree&) = delete;

  NodeRoots roots() const;
  std::string path(std::string_view relative) const;

  // Makes the parents, too. Writes an existing file in place. A concurrent reader finds an empty file only if the new
  // content is shorter, and a mixture of the old and the new content only while the kernel copies it.
  void write(std::string_view relative, std::string_view content);
  void make_directory(std::string_view relative);
  void link(std::string_view relative, std::string_view target);
  void remove(std::string_view relative);

 private:
  std::string root_;
};

}  // namespace koord::workshop
