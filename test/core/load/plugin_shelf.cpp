// SPDX-License-Identifier: Apache-2.0
#include "plugin_shelf.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace koord::test {

namespace fs = std::filesystem;

std::string built_plugin(std::string_view name) {
  const char* directory = std::getenv("KOORD_TEST_PLUGINS");
  if (directory == nullptr) throw std::runtime_error("KOORD_TEST_PLUGINS is not set: run the test through meson");
  return std::string(directory) + "/" + std::string(name) + ".so";
}

PluginShelf::PluginShelf(std::initializer_list<std::string_view> plugins) {
  std::string pattern = fs::temp_directory_path() / "koord-test-plugins-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a directory for plugins");
  path_ = pattern;
  for (std::string_view plugin : plugins) put(plugin);
}

PluginShelf::~PluginShelf() { fs::remove_all(path_); }

void PluginShelf::put(std::string_view plugin) { put_as(plugin, plugin); }

void PluginShelf::put_as(std::string_view plugin, std::string_view name) {
  fs::copy_file(built_plugin(plugin), file(name), fs::copy_options::overwrite_existing);
  fs::permissions(file(name), fs::perms(0755));
}

void PluginShelf::replace(std::string_view plugin, std::string_view name) {
  const std::string fresh = path_ + "/fresh";
  fs::copy_file(built_plugin(plugin), fresh);
  fs::permissions(fresh, fs::perms(0755));
  fs::rename(fresh, file(name));
}

void PluginShelf::patch(std::string_view name, std::size_t offset, std::string_view bytes) {
  std::fstream stream(file(name), std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(offset));
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace koord::test
