// SPDX-License-Identifier: Apache-2.0
#include "core/service/rights.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/parse.hpp"
#include "core/base/path.hpp"
#include "core/config/never_read.hpp"
#include "core/service/host_plugin_metrics.hpp"
#include "core/service/status.hpp"
#include "koordetector/plugin.h"

namespace koord::service {
namespace {

using Parts = std::vector<std::string_view>;

// In a pattern, "*" matches one path part, "#" a part of digits, and "**" at the end one or more parts.
constexpr std::array kReadableProc = {
    "buddyinfo", "cgroups", "cmdline", "consoles", "cpuinfo", "crypto", "devices", "diskstats", "filesystems",
    "interrupts", "loadavg", "locks", "mdstat", "meminfo", "misc", "pagetypeinfo", "partitions", "pressure/*",
    "schedstat", "softirqs", "stat", "swaps", "uptime", "version", "vmstat", "zoneinfo", "net/**", "sys/**",
    // Files of a process and its threads.
    "#/cgroup", "#/cmdline", "#/comm", "#/cpuset", "#/limits", "#/net/**", "#/oom_score", "#/oom_score_adj", "#/sched",
    "#/schedstat", "#/stat", "#/statm", "#/status", "#/wchan", "#/task/#/children", "#/task/#/cgroup", "#/task/#/comm",
    "#/task/#/sched", "#/task/#/schedstat", "#/task/#/stat", "#/task/#/statm", "#/task/#/status", "#/task/#/wchan"};

constexpr std::array kReadableSys = {"block/**",   "bus/**",    "class/**",     "devices/**", "fs/btrfs/**",
                                     "fs/ext4/**", "fs/xfs/**", "kernel/mm/**", "fs/f2fs/**", "kernel/cpu_byteorder"};

constexpr std::array kReadableAll = {"**"};

Parts parts_of(std::string_view path) {
  Parts parts;
  while (const auto part = next_field(path, '/')) parts.push_back(*part);
  return parts;
}

bool is_number(std::string_view part) {
  return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool matches(std::string_view pattern, const Parts& path) {
  std::size_t i = 0;
  while (const auto part = next_field(pattern, '/')) {
    if (*part == "**" && pattern.empty()) return i < path.size();
    if (i == path.size()) return false;
    const bool fits = *part == "*" || *part == path[i] || (*part == "#" && is_number(path[i]));
    if (!fits) return false;
    ++i;
  }
  return i == path.size();
}

std::span<const char* const> readable_below(std::uint32_t root) {
  switch (root) {
    case KOORD_ROOT_PROC:
      return kReadableProc;
    case KOORD_ROOT_SYS:
      return kReadableSys;
    case KOORD_ROOT_CGROUP:
    case KOORD_ROOT_RESCTRL:
      return kReadableAll;
    default:
      return {};
  }
}

std::string_view word_of_root(std::uint32_t root) {
  switch (root) {
    case KOORD_ROOT_PROC:
      return "proc";
    case KOORD_ROOT_SYS:
      return "sys";
    case KOORD_ROOT_CGROUP:
      return "cgroup";
    case KOORD_ROOT_RESCTRL:
      return "resctrl";
    default:
      return "run";
  }
}

std::string named_file(std::uint32_t root, const std::string& relative) {
  return std::string(word_of_root(root)) + "/" + relative;
}

bool is_granted_file(const Rights& rights, std::uint32_t root, const std::string& relative) {
  const std::string name = named_file(root, relative);
  const Parts path = parts_of(name);
  return std::any_of(rights.files.begin(), rights.files.end(),
                     [&](const std::string& pattern) { return matches(pattern, path); });
}

// Returns whether links may be followed. The kernel creates the links of sysfs and proc/net. Any other link may have
// been created by an untrusted user.
bool may_follow(std::uint32_t root, const Parts& path) {
  return root == KOORD_ROOT_SYS || (root == KOORD_ROOT_PROC && path.front() == "net");
}

Result<void> check_relative(const Parts& path, const std::string& relative) {
  for (const std::string_view part : path)
    if (part.empty() || part == "." || part == "..")
      return invalid("relative is '" + relative +
                     "', expected a path below the root without empty parts, '.' and '..'");
  return {};
}

}  // namespace

Error file_needs_grant(std::string_view plugin, std::uint32_t root, const std::string& relative) {
  const std::string name = named_file(root, relative);
  return refuse(KOORD_E_DENIED, "'" + name + "' is none of the files that every plugin may read; plugins.settings." +
                                    std::string(plugin) + ".files: [" + name + "] allows it");
}

Result<FileAccess> check_file(const Rights& rights, std::string_view plugin, std::uint32_t root,
                              const std::string& relative) {
  if (rights.host_plugin) return FileAccess{};
  const Parts path = parts_of(relative);
  TRY(check_relative(path, relative));
  if (root == KOORD_ROOT_PROC && config::is_never_read_of_proc(relative))
    return refuse(
        KOORD_E_DENIED,
        "'" + named_file(root, relative) +
            "' is never read for a plugin: memory, files and secrets of processes and the kernel stay theirs");
  if (is_granted_file(rights, root, relative)) return FileAccess{.follow_links = may_follow(root, path)};
  const std::span<const char* const> readable = readable_below(root);
  if (std::any_of(readable.begin(), readable.end(), [&](const char* pattern) { return matches(pattern, path); }))
    return FileAccess{.follow_links = may_follow(root, path), .only_world_readable = true};
  return file_needs_grant(plugin, root, relative);
}

bool is_granted_cgroup(const Rights& rights, std::string_view cgroup_dir) {
  return std::any_of(rights.cgroups.begin(), rights.cgroups.end(), [&](std::string_view granted) {
    if (granted == "/") return cgroup_dir.empty();
    return !granted.empty() && is_at_or_below(cgroup_dir, granted);
  });
}

Error cgroup_needs_grant(std::string_view plugin, std::string_view cgroup_dir) {
  const std::string name(cgroup_dir.empty() ? "/" : cgroup_dir);
  return refuse(KOORD_E_DENIED, "cgroup_dir is '" + std::string(cgroup_dir) +
                                    "', which is no cgroup of a pod; plugins.settings." + std::string(plugin) +
                                    ".cgroups: [" + name + "] allows it");
}

Result<void> check_metric_name(const Rights& rights, std::string_view plugin, std::string_view name) {
  if (rights.host_plugin || !is_metric_of_host_plugin(name)) return {};
  return refuse(KOORD_E_DENIED, "metric '" + std::string(name) +
                                    "' is reserved for the agent's own plugins, expected a name of " +
                                    std::string(plugin) + "'s own");
}

Result<void> check_capability_name(const Rights& rights, std::string_view plugin, std::string_view name) {
  const std::string id(plugin), prefix = id + "/";
  if (rights.host_plugin || name == id || (name.starts_with(prefix) && name.size() > prefix.size())) return {};
  return refuse(KOORD_E_DENIED, "capability '" + std::string(name) + "' is not one of " + id + ", expected '" + id +
                                    "' or a name that begins with '" + prefix + "'");
}

}  // namespace koord::service
