// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/node_tree.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace koord::workshop {
namespace fs = std::filesystem;

NodeTree::NodeTree() : root_((fs::temp_directory_path() / "koord-node-XXXXXX").string()) {
  if (!::mkdtemp(root_.data())) throw std::runtime_error("cannot make '" + root_ + "'");
  for (const char* top : {"proc", "sys", "cgroup", "resctrl", "run"}) make_directory(top);
}

NodeTree::NodeTree(std::initializer_list<std::pair<std::string_view, std::string_view>> tree) : NodeTree() {
  for (const auto& [name, content] : tree) {
    if (name.ends_with('/'))
      make_directory(name);
    else
      write(name, content);
  }
}

NodeTree::~NodeTree() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

NodeRoots NodeTree::roots() const { return {path("proc"), path("sys"), path("cgroup"), path("resctrl"), path("run")}; }

std::string NodeTree::path(std::string_view relative) const { return root_ + '/' + std::string(relative); }

void NodeTree::write(std::string_view relative, std::string_view content) {
  fs::path file = path(relative);
  fs::create_directories(file.parent_path());
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << content << std::flush;
  if (!stream) throw std::runtime_error("cannot write '" + file.string() + "'");
}

void NodeTree::make_directory(std::string_view relative) { fs::create_directories(path(relative)); }

void NodeTree::link(std::string_view relative, std::string_view target) {
  fs::path link = path(relative);
  fs::create_directories(link.parent_path());
  fs::create_symlink(target, link);
}

void NodeTree::remove(std::string_view relative) { fs::remove_all(path(relative)); }

}  // namespace koord::workshop
