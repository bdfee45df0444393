// SPDX-License-Identifier: Apache-2.0
#include "core/load/plugin_catalogue.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/load/file_trust.hpp"
#include "core/load/grants.hpp"

namespace koord::load {
namespace {

Result<void> examine(const std::string& directory, PluginFile& file) {
  file.path = TRY(check_trusted_file(directory, file.path));
  file.manifest = TRY(read_manifest(file.path));
  TRY(check_compatible(file.manifest));
  return check_required_services(file.manifest);
}

PluginFile read_plugin_file(const std::string& directory, const std::string& name, Origin origin) {
  PluginFile file{.path = directory + "/" + name, .manifest = {}, .origin = origin, .refusal = {}};
  if (Result<void> fine = examine(directory, file); !fine) file.refusal = fine.error().message();
  // The file's name is used as id if the id could not be read.
  if (file.manifest.id.empty()) file.manifest.id = std::filesystem::path(name).stem().string();
  return file;
}

// Adds the plugins of a directory, and returns the number of its files *.so. `seen`: known paths, because "libx.so" and
// a link to it are one plugin.
Result<std::size_t> read_directory(const std::string& path, Origin origin, std::set<std::string>& seen,
                                   std::vector<PluginFile>& files) {
  std::string directory = TRY(check_trusted_directory(path));
  std::size_t found = 0;
  for (const std::string& name : TRY(list_directory(directory))) {
    if (!name.ends_with(".so")) continue;
    ++found;
    PluginFile file = read_plugin_file(directory, name, origin);
    if (seen.insert(file.path).second) files.push_back(std::move(file));
  }
  return found;
}

void refuse_second_owners(std::vector<PluginFile>& files) {
  std::map<std::string, std::string> path_of;
  for (PluginFile& file : files) {
    if (!file.refusal.empty()) continue;
    auto [first, is_first] = path_of.emplace(file.manifest.id, file.path);
    if (!is_first)
      file.refusal = "expected an id of its own, found '" + file.manifest.id + "' also in " + first->second;
  }
}

}  // namespace

Catalogue read_catalogue(const config::PluginsSettings& settings) {
  Catalogue catalogue;
  std::set<std::string> seen;
  auto read_all = [&](const std::vector<std::string>& directories, Origin origin) {
    for (const std::string& directory : directories) {
      const Result<std::size_t> read = read_directory(directory, origin, seen, catalogue.files);
      if (!read) catalogue.problems.push_back("plugin directory " + read.error().message());
      if (read && *read == 0 && origin == Origin::host) catalogue.problems.push_back(no_own_plugins_in(directory));
    }
  };
  read_all(settings.own_directories, Origin::host);
  read_all(settings.directories, Origin::third_party);
  refuse_second_owners(catalogue.files);
  return catalogue;
}

std::string no_own_plugins_in(const std::string& directory) {
  return "plugins.ownDirectories: '" + directory + "' has no *.so file, expected the agent's own plugins";
}

std::string unread_files(const std::vector<PluginFile>& files) {
  std::string text;
  for (const PluginFile& file : files) {
    if (file.refusal.empty() || !file.manifest.version.empty()) continue;
    const bool names_itself = file.refusal.find("'" + file.path + "'") != std::string::npos;
    text += "; a refused file may have it: " + (names_itself ? "" : "'" + file.path + "': ") + file.refusal;
  }
  return text;
}

std::vector<std::string> find_unknown_settings(const config::PluginsSettings& settings,
                                               const std::vector<std::string>& ids, const std::string& unread) {
  std::vector<std::string> lines;
  for (const auto& [id, of] : settings.settings) {
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
    const std::string near = nearest(id, ids);
    lines.push_back("plugins.settings.'" + id + "' names no plugin that was found" +
                    (near.empty() ? unread : ", did you mean '" + near + "'?"));
  }
  return lines;
}

}  // namespace koord::load
