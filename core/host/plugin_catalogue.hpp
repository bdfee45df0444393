// SPDX-License-Identifier: Apache-2.0
// What lies in the plugin directories: each *.so with its manifest, or with the one line why it is refused.
// Nothing of a file runs here. [any thread]
#pragma once

#include <string>
#include <vector>

#include "core/host/manifest.hpp"

namespace koord::host {

struct PluginFile {
  std::string path;     // links resolved, once the file is trusted
  Manifest manifest;    // as far as it could be read
  std::string refusal;  // empty: the host may load it
};

struct Catalogue {
  std::vector<PluginFile> files;      // by directory, then by name
  std::vector<std::string> problems;  // of the directories themselves
};

// An id that two files have is the first one's.
Catalogue read_catalogue(const std::vector<std::string>& directories);

}  // namespace koord::host
