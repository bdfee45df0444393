// SPDX-License-Identifier: Apache-2.0
#include "core/config/reference.hpp"

#include <cstddef>

#include "core/base/parse.hpp"
#include "core/config/schema.hpp"

namespace koord::config {
namespace {

constexpr std::string_view kPluginPrefix = "plugins.settings.<id>.";

std::string plugin_path(std::string_view key) { return std::string(kPluginPrefix) + std::string(key); }

// Writes keys as nested mappings, a section's name before its first key.
class ReferenceWriter {
 public:
  void add(std::string_view path, const std::string& type, std::string_view default_value, std::string_view help) {
    const std::vector<std::string> parts = split(path, '.');
    enter_section({parts.begin(), parts.end() - 1});
    line("# " + std::string(help));
    line("# " + type);
    line(parts.back() + (default_value.empty() ? ":" : ": " + std::string(default_value)));
  }

  // An example that an operator may uncomment.
  void add_example(std::string_view path, const std::string& type, std::string_view default_value,
                   std::string_view help) {
    const std::string value(default_value.empty() ? "" : " " + std::string(default_value));
    line("#     " + std::string(path) + ":" + value + "  # " + type + ". " + std::string(help));
  }

  void line(const std::string& text) { text_ += std::string(2 * section_.size(), ' ') + text + "\n"; }

  std::string take() { return std::move(text_); }

 private:
  void enter_section(const std::vector<std::string>& section) {
    std::size_t shared = 0;
    while (shared < section.size() && shared < section_.size() && section[shared] == section_[shared]) ++shared;
    if (shared == 0 && !text_.empty()) text_ += "\n";
    section_.resize(shared);
    for (; shared < section.size(); ++shared) {
      line(section[shared] + ":");
      section_.push_back(section[shared]);
    }
  }

  std::vector<std::string> section_;
  std::string text_;
};

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
