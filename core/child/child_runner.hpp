// SPDX-License-Identifier: Apache-2.0
// A plugin in a process of its own, from the host's side: a LoadedPlugin that runs in children. Each instance starts a
// koord-plugin-host; a child that ends, or sends invalid data, is lost without further damage. [any thread]
#pragma once

#include <memory>
#include <string>

#include "core/cgroup/layout.hpp"
#include "core/host/runner.hpp"

namespace koord::child {

class Layers;
class SnapshotImages;

// Returns the configured koord-plugin-host, or the one beside the running program when none is configured.
std::string plugin_host_program(const std::string& configured);

// Settings shared by all children of one host. All references must outlive them.
struct Children {
  std::string program;     // the koord-plugin-host to run
  SnapshotImages& images;  // of the state
  const cgroup::Layout* layout =
      nullptr;               // where their cgroups are created; null: they have neither cgroups nor limits
  Layers* layers = nullptr;  // null: only their system calls are filtered
};

// A Loader: starts a child that maps the file and describes it, and ends it again. Every child must map the file that
// was checked, also those that are started later. All of them run in one cgroup, which no other running plugin uses.
Result<std::shared_ptr<const host::LoadedPlugin>> load_in_child(const Children& children, const std::string& path,
                                                                const load::Manifest& manifest,
                                                                const FileVersion& checked,
                                                                const host::RunnerLimits& limits);

}  // namespace koord::child
