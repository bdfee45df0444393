// SPDX-License-Identifier: Apache-2.0
#include "core/api/operator_access.hpp"

#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/child/plugins_cgroup.hpp"
#include "core/log/log.hpp"

namespace koord::api {
namespace {

constexpr log::Category access_log{"api"};

// Returns a path in the agent's own /proc, because the kernel reports the peer's id in the agent's PID namespace.
std::string proc_file(pid_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(name);
}

// Returns whether the name is "koordetector-plugins", with or without a suffix "~N".
bool is_plugins_cgroup(std::string_view name) {
  return name == child::kPluginsCgroup || name.starts_with(std::string(child::kPluginsCgroup) + "~");
}

// Returns the first path of /proc/PID/cgroup that is inside a cgroup of plugins, in any hierarchy.
std::optional<std::string> cgroup_of_plugin(std::string_view cgroups) {
  while (auto line = next_field(cgroups, '\n')) {
    std::string_view path = line->substr(std::min(line->size(), line->find('/')));
    std::string_view rest = path;
    while (auto part = next_field(rest, '/'))
      if (is_plugins_cgroup(*part)) return std::string(path);
  }
  return std::nullopt;
}

// Returns the parent's id from /proc/PID/stat. State and parent follow the name, which may contain any character.
std::optional<pid_t> parent_of_process(pid_t pid) {
  const Result<std::string> stat = read_file(proc_file(pid, "stat"));
  const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*stat).substr(name_end + 1);
  next_word(rest);
  const Result<std::uint64_t> parent = parse_uint(next_word(rest).value_or(""));
  return parent ? std::optional(static_cast<pid_t>(*parent)) : std::nullopt;
}

bool descends_from_agent(pid_t pid) {
  constexpr int kDeepest = 256;
  for (int depth = 0; depth < kDeepest && pid > 1; ++depth) {
    const std::optional<pid_t> parent = parent_of_process(pid);
    if (!parent) return false;
    if (*parent == ::getpid()) return true;
    pid = *parent;
  }
  return false;
}

bool is_member(const http::LocalPeer& peer, gid_t group) {
  return peer.gid == group || std::find(peer.groups.begin(), peer.groups.end(), group) != peer.groups.end();
}

// Returns the program's name. Replaces everything except printable ASCII by '?', so that it cannot forge a log line.
std::string program_of(pid_t pid) {
  std::string name = read_file(proc_file(pid, "comm")).value_or("?");
  name = std::string(trim(name));
  for (char& byte : name)
    if (static_cast<unsigned char>(byte) < 0x20 || static_cast<unsigned char>(byte) >= 0x7f) byte = '?';
  return name;
}

std::string process_name(const http::LocalPeer& peer) {
  const std::string uid = "uid " + std::to_string(peer.uid);
  return peer.pid <= 0 ? uid + " of another PID namespace"
                       : uid + " pid " + std::to_string(peer.pid) + " (" + program_of(peer.pid) + ")";
}

Error refused(const http::LocalPeer& peer, const std::string& why) {
  return system_error(EPERM, "the data API is for operators: " + process_name(peer) + " " + why);
}

Result<void> check_no_plugin(const http::LocalPeer& peer) {
  if (peer.pid <= 0) return {};  // in a different PID namespace, so not a descendant of the agent
  const Result<std::string> cgroups = read_file(proc_file(peer.pid, "cgroup"));
  if (!cgroups) return refused(peer, "has ended");
  if (const auto cgroup = cgroup_of_plugin(*cgroups))
    return refused(peer, "is a plugin's process, in the cgroup '" + *cgroup + "'");
  if (descends_from_agent(peer.pid)) return refused(peer, "is a plugin's process, started by the agent");
  return peer.has_ended() ? refused(peer, "has ended") : Result<void>();
}

}  // namespace

Result<std::optional<gid_t>> find_group(std::string_view group) {
  if (group.empty()) return std::optional<gid_t>();
  if (const Result<std::uint64_t> number = parse_uint(group); number && *number < UINT32_MAX)
    return std::optional(static_cast<gid_t>(*number));
  ::group entry{}, *found = nullptr;
  std::vector<char> buffer(1 << 16);
  const int error = ::getgrnam_r(std::string(group).c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (error != 0) return system_error(error, "cannot look up the group '" + std::string(group) + "'");
  if (found == nullptr)
    return invalid("listen.socketGroup: no group '" + std::string(group) +
                   "' on this node, expected a name or a number");
  return std::optional(entry.gr_gid);
}

OperatorAccess::OperatorAccess(std::optional<gid_t> group, PluginUsers plugins)
    : group_(group), plugins_(plugins), refusals_(std::make_shared<log::RateLimit>(5, std::chrono::seconds(10))) {}

Result<void> OperatorAccess::admit(const http::LocalPeer& peer) const {
  Result<void> admitted = plugins_.has(peer.uid) ? refused(peer, "is a plugin's user") : check_no_plugin(peer);
  const bool is_operator = peer.uid == 0 || peer.uid == ::geteuid() || (group_ && is_member(peer, *group_));
  if (admitted && !is_operator)
    admitted =
        refused(peer, group_ ? "is neither root nor in group " + std::to_string(*group_) + " (listen.socketGroup)"
                             : std::string("is not root (listen.socketGroup may name a group)"));
  if (!admitted) refusals_->write(SystemClock().now(), access_log, log::Level::warn, admitted.error().message());
  return admitted;
}

std::string operator_name(const http::LocalPeer& peer) { return "operator " + process_name(peer); }

std::string operator_name(const http::Request& request) {
  return request.peer ? operator_name(*request.peer) : "an operator";
}

}  // namespace koord::api
