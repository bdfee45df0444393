// SPDX-License-Identifier: Apache-2.0
// The content of the plugin directories: each *.so with its manifest, or with a line that says why it is refused. No
// code of a file runs here. [any thread]
#pragma once

#include <string>
#include <vector>

#include "core/config/config.hpp"
#include "core/load/manifest.hpp"

namespace koord::load {

struct PluginFile {
  std::string path;                     // links resolved, once the file is trusted
  Manifest manifest;                    // as far as it could be read
  Origin origin = Origin::third_party;  // by its directory
  std::string refusal;                  // empty: the host may load it
};

struct Catalogue {
  std::vector<PluginFile> files;      // by directory, the host's own first, then by name
  std::vector<std::string> problems;  // of the directories themselves
};

// If two directories have the same file, or two files the same id, the first one counts: no plugin can take the name of
// one of the host's own.
Catalogue read_catalogue(const config::PluginsSettings& settings);

// Returns the problem with a directory of plugins.ownDirectories without a file *.so. A directory of
// plugins.directories may be empty: third-party plugins come and go.
std::string no_own_plugins_in(const std::string& directory);

// Returns "; a refused file may have it: 'PATH': …" for each file with an unreadable manifest: its id is unknown.
// Empty: there is no such file.
std::string unread_files(const std::vector<PluginFile>& files);

// Returns a line for each id of plugins.settings that is not among these, with the nearest one: a pin or a grant under
// it applies to nothing. `unread` is appended where no id is near.
std::vector<std::string> find_unknown_settings(const config::PluginsSettings& settings,
                                               const std::vector<std::string>& ids, const std::string& unread = {});

}  // namespace koord::load
