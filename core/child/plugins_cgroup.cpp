// SPDX-License-Identifier: Apache-2.0
#include "core/child/plugins_cgroup.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::child {
namespace {

using cgroup::Layout;

bool lists(const std::string& directory, std::string_view pid) {
  const std::string pids = read_file(directory + "/cgroup.procs").value_or("");
  std::string_view rest = pids;
  while (auto line = next_field(rest, '\n'))
    if (*line == pid) return true;
  return false;
}

// Searches the tree for the cgroup of this process, because /proc/self/cgroup shows only "/" at the root of a cgroup
// namespace.
std::optional<std::string> find_own(const Layout& layout, const std::string& below, std::string_view pid) {
  const std::string directory = layout.unified_directory(below);
  if (lists(directory, pid)) return below;
  for (const std::string& child : list_subdirectories(directory).value_or({}))
    if (auto found = find_own(layout, below.empty() ? child : below + "/" + child, pid)) return found;
  return std::nullopt;
}

std::string parent_of(const std::string& cgroup) {
  std::size_t slash = cgroup.rfind('/');
  return slash == std::string::npos ? std::string() : cgroup.substr(0, slash);
}

std::string below(const std::string& cgroup, std::string_view name) {
  return cgroup.empty() ? std::string(name) : cgroup + "/" + std::string(name);
}

// Returns the path of this process in the unified tree, without the leading '/'. In a cgroup namespace the path starts
// at the root of the namespace.
std::string path_of_self() {
  const std::string text = read_file("/proc/self/cgroup").value_or("");
  std::string_view rest = text;
  while (auto line = next_field(rest, '\n'))
    if (line->starts_with("0::/")) return std::string(line->substr(4));
  return {};
}

bool agent_is_aside() { return ("/" + path_of_self()).ends_with("/" + std::string(kAgentCgroup)); }

std::optional<std::string> own_cgroup(const Layout& layout) {
  const std::string pid = std::to_string(::getpid());
  if (std::string path = path_of_self(); !path.starts_with("..") && lists(layout.unified_directory(path), pid))
    return path;
  return find_own(layout, "", pid);
}

}  // namespace

std::string plugins_cgroup(const Layout& layout) {
  if (layout.hierarchy() != cgroup::Hierarchy::v2 || !agent_is_aside()) return std::string(kPluginsCgroup);
  auto own = own_cgroup(layout);
  return own ? below(parent_of(*own), kPluginsCgroup) : std::string(kPluginsCgroup);
}

std::vector<std::string> possible_plugins_cgroups(const Layout& layout) {
  std::vector<std::string> found{std::string(kPluginsCgroup)};
  if (layout.hierarchy() != cgroup::Hierarchy::v2) return found;
  const auto own = own_cgroup(layout);
  if (!own || own->empty()) return found;
  found.push_back(below(*own, kPluginsCgroup));
  if (const std::string parent = parent_of(*own); !parent.empty()) found.push_back(below(parent, kPluginsCgroup));
  return found;
}

Result<void> move_agent_aside(const Layout& layout) {
  if (layout.hierarchy() != cgroup::Hierarchy::v2) return invalid("only cgroup v2 restricts cgroup namespaces");
  // Several threads may start plugins at the same time. All wait until the agent's own cgroup is empty.
  static std::mutex moving;
  const std::lock_guard lock(moving);
  if (agent_is_aside()) return {};
  auto own = own_cgroup(layout);
  if (!own) return not_found("the agent's own cgroup");
  const std::string aside = layout.unified_directory(below(*own, kAgentCgroup));
  if (::mkdir(aside.c_str(), 0755) != 0 && errno != EEXIST) return system_error(errno, "'" + aside + "'");
  // The first round moves the agent. The second round moves children that it started meanwhile.
  for (int round = 0; round < 2; ++round) {
    const std::string pids = TRY(read_file(layout.unified_directory(*own) + "/cgroup.procs"));
    std::string_view rest = pids;
    while (auto pid = next_field(rest, '\n')) {
      Result<void> moved = write_value(aside + "/cgroup.procs", *pid);
      if (!moved && !moved.error().is(std::errc::no_such_process)) return moved;
    }
  }
  return {};
}

}  // namespace koord::child
