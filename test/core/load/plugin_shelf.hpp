// SPDX-License-Identifier: Apache-2.0
// PluginShelf: a trusted directory with copies of the test plugins. Each copy is a new file, so each test maps its
// plugins again.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace koord::test {

// Returns the path of the built test plugin with this name.
std::string built_plugin(std::string_view name);

class PluginShelf {
 public:
  PluginShelf(std::initializer_list<std::string_view> plugins = {});
  ~PluginShelf();
  PluginShelf(const PluginShelf&) = delete;
  PluginShelf& operator=(const PluginShelf&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name) + ".so"; }

  void put(std::string_view plugin);
  void put_as(std::string_view plugin, std::string_view name);
  // Replaces a file by rename, as required while an agent runs.
  void replace(std::string_view plugin) { replace(plugin, plugin); }
  void replace(std::string_view plugin, std::string_view name);
  // Overwrites the bytes of a file at this offset.
  void patch(std::string_view name, std::size_t offset, std::string_view bytes);

 private:
  std::string path_;
};

}  // namespace koord::test
