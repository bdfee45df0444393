// SPDX-License-Identifier: Apache-2.0
// A plugin in a process of its own, as the host sees it: a LoadedPlugin whose homes are children. Each home starts a
// koord-plugin-host; a child that ends, or says what makes no sense, is a lost home and nothing worse. [any thread]
#pragma once

#include <memory>
#include <string>

#include "core/cgroup/layout.hpp"
#include "core/host/home.hpp"

namespace koord::child {

class Layers;
class SnapshotImages;

// Returns the configured koord-plugin-host, or the one beside the running program when none is configured.
std::string plugin_host_program(const std::string& configured);

// What all children of one host share. What it refers to outlives them.
struct Children {
  std::string program;     // the koord-plugin-host to run
  SnapshotImages& images;  // of the state
  const cgroup::Layout* layout = nullptr;  // where their cgroups are made; null: they have none, hence no limits
  Layers* layers = nullptr;                // null: only their system calls are filtered
};

// A Loader: starts a child that maps the file and describes it, and ends it again. Each child must have mapped the
// file that was checked, those that its homes start later, too. All of them live in one cgroup, that of no other plugin
// that runs.
Result<std::shared_ptr<const host::LoadedPlugin>> load_in_child(const Children& children, const std::string& path,
                                                                const host::Manifest& manifest,
                                                                const host::FileStamp& checked,
                                                                const host::HomeLimits& limits);

}  // namespace koord::child
