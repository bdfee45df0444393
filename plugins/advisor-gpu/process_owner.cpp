// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-gpu/process_owner.hpp"

#include "core/base/parse.hpp"

namespace koord::gpu {
namespace {

// Returns the path relative to the root. A path outside of the reader's cgroup namespace begins with "/..".
std::string_view without_root(std::string_view path) {
  while (path.starts_with("/..") && (path.size() == 3 || path[3] == '/')) path.remove_prefix(3);
  while (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

std::optional<Owner> owner_at_or_above(std::string_view path, const Owners& owners) {
  while (!path.empty()) {
    if (const auto found = owners.find(std::string(path)); found != owners.end()) return found->second;
    const std::size_t slash = path.rfind('/');
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Owner> owner_of(std::string_view cgroup_file, const Owners& owners) {
  while (auto line = next_field(cgroup_file, '\n')) {
    // The path may contain colons.
    if (!next_field(*line, ':') || !next_field(*line, ':')) continue;
    if (auto owner = owner_at_or_above(without_root(*line), owners)) return owner;
  }
  return std::nullopt;
}

}  // namespace koord::gpu
