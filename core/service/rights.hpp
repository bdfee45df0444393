// SPDX-License-Identifier: Apache-2.0
// Rights: the files and cgroups that one plugin may reach through services beyond the grants of its kind. The host's
// own plugins may read every file below a root and propose for every cgroup. A third party's plugin reads an allow-list
// of files and proposes for cgroups of pods; plugins.settings.ID.files and .cgroups add to that. Pure. [any thread]
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/network_families.hpp"
#include "core/base/result.hpp"

namespace koord::service {

struct Rights {
  bool host_plugin = true;           // one of the host's own
  std::vector<std::string> files;    // "run/acme/state.json", "proc/*/io", "run/acme/**"; the first part names the root
  std::vector<std::string> cgroups;  // "acme.slice": it and all below it; "/" is the root alone
  NetworkMask network = 0;           // kinds of endpoints that may be scraped for it
  std::vector<std::string> sockets = {};  // unix sockets that may be scraped for it, and directories of them
};

// How a file may be opened.
struct FileAccess {
  bool follow_links = true;
  bool only_world_readable = false;  // refuse what is not readable by every user of the node
};

// `root` is a KOORD_ROOT_*, `relative` a path below it. KOORD_E_DENIED names the path and the setting that would allow
// it.
Result<FileAccess> check_file(const Rights& rights, std::string_view plugin, std::uint32_t root,
                              const std::string& relative);
// The error about a file that is not world-readable and was not granted.
Error file_needs_grant(std::string_view plugin, std::uint32_t root, const std::string& relative);

// Does a setting name this cgroup or one above it?
bool is_granted_cgroup(const Rights& rights, std::string_view cgroup_dir);
Error cgroup_needs_grant(std::string_view plugin, std::string_view cgroup_dir);

// KOORD_E_DENIED when the name is kept for the host's own plugins.
Result<void> check_metric_name(const Rights& rights, std::string_view plugin, std::string_view name);

// KOORD_E_DENIED unless the name is the plugin's id or begins with "ID/", so no plugin speaks for the agent or for
// another plugin. The host's own plugins report any name.
Result<void> check_capability_name(const Rights& rights, std::string_view plugin, std::string_view name);

}  // namespace koord::service
