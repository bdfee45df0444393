// SPDX-License-Identifier: Apache-2.0
// FakeNode: a directory that looks like a node's /proc, /sys and cgroup mounts, made from literals in the
// test and removed with the object:
//
//   FakeNode node({{"cgroup/cgroup.controllers", "cpu memory\n"}, {"cgroup/system.slice/nginx.service/",
//   ""}});
//
// A path that ends in '/' is a directory. The top names are proc, sys, cgroup, resctrl and run.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/node_roots.hpp"

namespace koord::test {

class FakeNode {
 public:
  FakeNode();
  explicit FakeNode(std::initializer_list<std::pair<std::string_view, std::string_view>> tree);
  ~FakeNode();
  FakeNode(const FakeNode&) = delete;
  FakeNode& operator=(const FakeNode&) = delete;

  NodeRoots roots() const;
  std::string path(std::string_view relative) const;

  // Makes the parents, too; writes an existing file in place.
  void write(std::string_view relative, std::string_view content);
  void make_directory(std::string_view relative);
  void link(std::string_view relative, std::string_view target);
  void remove(std::string_view relative);

 private:
  std::string root_;
};

}  // namespace koord::test
