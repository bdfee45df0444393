// SPDX-License-Identifier: Apache-2.0
#include "core/config/reference.hpp"

#include "core/config/reference_writer.hpp"
#include "core/config/schema.hpp"

namespace koord::config {
namespace {

constexpr std::string_view kPluginPrefix = "plugins.settings.<id>.";

std::string plugin_path(std::string_view key) { return std::string(kPluginPrefix) + std::string(key); }

void add_plugin_example(ReferenceWriter& writer) {
  writer.line("#   advisor-example:");
  for (const Key<PluginSettings>& key : plugin_schema())
    writer.add_example(key.path, key.type, key.default_value, key.help);
}

}  // namespace

std::vector<KeyReference> list_keys() {
  std::vector<KeyReference> keys;
  for (const Key<Config>& key : config_schema()) {
    keys.push_back({std::string(key.path), key.type, key.default_value, key.help});
    if (key.path != "plugins.settings") continue;
    for (const Key<PluginSettings>& plugin : plugin_schema())
      keys.push_back({plugin_path(plugin.path), plugin.type, plugin.default_value, plugin.help});
  }
  return keys;
}

std::string reference_yaml() {
  ReferenceWriter writer;
  for (const Key<Config>& key : config_schema()) {
    writer.add(key.path, key.type, key.default_value, key.help);
    if (key.path == "plugins.settings") add_plugin_example(writer);
  }
  return writer.take();
}

}  // namespace koord::config
