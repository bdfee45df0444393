// SPDX-License-Identifier: Apache-2.0
// A new plugin's project: a folder of sources, tests and a build script that needs a compiler and no installed package,
// because it contains the SDK. Made of plugin-api/templates; the README there describes how. [any thread]
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace koord::workshop {

struct ProjectRequest {
  std::string kind;      // one of project_kinds()
  std::string language;  // one of project_languages()
  std::string name;      // [a-z][a-z0-9-]*: the folder and the .so
  std::string id;        // a reverse domain name; empty: com.example.NAME
};

std::vector<std::string> project_kinds();
std::vector<std::string> project_languages();

struct ProjectFile {
  std::string path;  // below the project's folder
  std::string content;
  bool executable = false;
};

struct Project {
  std::string name, id, gate, metric_prefix;
  std::string source;              // the file that is the plugin
  std::string grants;              // in plugins.settings.ID, "network: [tcp]"; empty: it needs none
  std::vector<ProjectFile> files;  // by path
};

// The error names what was wanted and what was found.
Result<Project> make_project(const ProjectRequest& request);

// Writes it into parent/NAME, which must not exist: nothing is ever overwritten. An incomplete project is removed.
Result<void> write_project(const Project& project, const std::string& parent);

}  // namespace koord::workshop
