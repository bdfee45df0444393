// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/fixture.hpp"

#include <algorithm>
#include <array>

#include "core/workshop/node_tree.hpp"

namespace koord::workshop {

Frame difference(Duration at, const Tree& before, const Tree& after) {
  Frame frame{.at = at};
  for (const auto& [path, entry] : after) {
    auto old = before.find(path);
    if (old == before.end() || old->second != entry) frame.changed.emplace(path, entry);
  }
  for (const auto& [path, entry] : before)
    if (!after.contains(path)) frame.gone.push_back(path);
  return frame;
}

void apply(const Frame& frame, NodeTree& node) {
  for (const std::string& path : frame.gone) node.remove(path);
  for (const auto& [path, entry] : frame.changed) {
    switch (entry.type) {
      case TreeEntry::Type::file:
        node.write(path, entry.content);
        break;
      case TreeEntry::Type::link:
        node.remove(path);
        node.link(path, entry.content);
        break;
      case TreeEntry::Type::directory:
        node.make_directory(path);
        break;
    }
  }
}

}  // namespace koord::workshop
