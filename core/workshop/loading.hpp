// SPDX-License-Identifier: Apache-2.0
// A plugin's file in its author's hands: read, checked and loaded by the host's own code, without the agent's demands
// on the file's place and owner. [any thread]
#pragma once

#include <memory>
#include <string>

#include "core/config/config.hpp"
#include "core/host/runner.hpp"
#include "core/load/manifest.hpp"

namespace koord::child {
class Layers;
class SnapshotImages;
}  // namespace koord::child

namespace koord::workshop {

struct OpenedPlugin {
  std::string path;  // absolute
  load::Manifest manifest;
};
// The error names the file. Nothing of it is run.
Result<OpenedPlugin> open_plugin(const std::string& path);

// Loads as an agent would, with the isolation that an agent would choose, or with the requested one.
struct Loading {
  config::Isolation isolation = config::Isolation::automatic;
  std::string child_program;        // koord-plugin-host
  child::SnapshotImages& images;    // outlives what is loaded
  child::Layers* layers = nullptr;  // of a process; null: only the filter of system calls. Outlives what is loaded
  host::RunnerLimits limits = {};   // of the process that describes the file
};
Result<std::shared_ptr<const host::LoadedPlugin>> load(const OpenedPlugin& piece, const Loading& how);

// A module that is linked into this program, such as a plugin's source in the test of its author.
Result<std::shared_ptr<const host::LoadedPlugin>> linked_plugin(const koord_module* module);

// koord-plugin-host beside this program or in the libexec folder of its installation; an error when it is in neither.
Result<std::string> find_child_program();

}  // namespace koord::workshop
