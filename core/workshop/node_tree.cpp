// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/node_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "core/base/unique_fd.hpp"

namespace koord::workshop {
namespace fs = std::filesystem;

namespace {

// Empties the file first only if the new content is shorter, so a program that reads the tree meanwhile seldom finds an
// empty file.
bool overwrite(const fs::path& file, std::string_view content) {
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  struct stat now {};
  if (!fd || ::fstat(fd.get(), &now) != 0) return false;
  const auto size = static_cast<off_t>(content.size());
  if (now.st_size > size && ::ftruncate(fd.get(), 0) != 0) return false;
  return ::write(fd.get(), content.data(), content.size()) == size;
}

}  // namespace

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
  const fs::path file = path(relative);
  fs::create_directories(file.parent_path());
  if (!overwrite(file, content)) throw std::runtime_error("cannot write '" + file.string() + "'");
}

void NodeTree::make_directory(std::string_view relative) { fs::create_directories(path(relative)); }

void NodeTree::link(std::string_view relative, std::string_view target) {
  fs::path link = path(relative);
  fs::create_directories(link.parent_path());
  fs::create_symlink(target, link);
}

void NodeTree::remove(std::string_view relative) { fs::remove_all(path(relative)); }

}  // namespace koord::workshop
