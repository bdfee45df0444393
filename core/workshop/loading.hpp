// SPDX-License-Identifier: Apache-2.0
// A plugin's file as its author holds it: read, judged and loaded by the host's own code, without the trust that an
// agent asks of where the file lies and whose it is. [any thread]
#pragma once

#include <memory>
#include <string>

#include "core/config/config.hpp"
#include "core/host/home.hpp"
#include "core/host/manifest.hpp"

namespace koord::child {
class SnapshotImages;
}

namespace koord::workshop {

struct Workpiece {
  std::string path;  // absolute
  host::Manifest manifest;
};
// The error names the file. Nothing of it is run.
Result<Workpiece> open_workpiece(const std::string& path);

// What an agent would load, in the home that an agent would give it, or in the one that is wanted.
struct Loading {
  config::Isolation isolation = config::Isolation::automatic;
  std::string child_program;      // koord-plugin-host
  child::SnapshotImages& images;  // outlives what is loaded
};
Result<std::shared_ptr<const host::LoadedPlugin>> load(const Workpiece& piece, const Loading& how);

// A module that is linked into this program, such as a plugin's source in the test of its author.
Result<std::shared_ptr<const host::LoadedPlugin>> linked_plugin(const koord_module* module);

// koord-plugin-host beside this program or in the libexec folder of its installation; an error when it is in neither.
Result<std::string> find_child_program();

}  // namespace koord::workshop
