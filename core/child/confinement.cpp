// SPDX-License-Identifier: Apache-2.0
#include "core/child/confinement.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::child {
namespace {

using cgroup::Controller;

constexpr Controller kControllers[] = {Controller::memory, Controller::cpu, Controller::pids};
constexpr std::uint64_t kPeriodUs = 100'000;

Result<void> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return system_error(errno, "'" + path + "'");
  return {};
}

std::string cgroup_of(const std::string& name) { return std::string(kPluginsCgroup) + "/" + name; }

bool has_processes(const cgroup::Layout& layout, const std::string& cgroup) {
  for (Controller controller : kControllers) {
    const std::string directory = layout.directory(controller, cgroup);
    if (!directory.empty() && !read_file(directory + "/cgroup.procs").value_or("").empty()) return true;
  }
  return false;
}

// The parent of a process whose own has ended is the first of all, unless that is us.
bool is_orphan(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  std::string_view rest = stat;
  rest.remove_prefix(std::min(rest.size(), rest.rfind(')') + 1));
  next_word(rest);  // the state
  return next_word(rest) == "1" && ::getpid() != 1;
}

std::size_t end_orphans_in(const std::string& cgroup) {
  std::size_t ended = 0;
  const std::string list = read_file(cgroup + "/cgroup.procs").value_or("");
  std::string_view rest = list;
  while (auto line = next_field(rest, '\n')) {
    const auto pid = static_cast<pid_t>(parse_int(*line).value_or(0));
    if (pid <= 0 || !is_orphan(pid)) continue;
    ::kill(pid, SIGKILL);
    ++ended;
  }
  return ended;
}

}  // namespace

std::size_t end_orphans(const cgroup::Layout& layout) {
  std::size_t ended = 0;
  for (Controller controller : kControllers) {
    const std::string plugins = layout.directory(controller, kPluginsCgroup);
    if (plugins.empty()) continue;
    for (const std::string& plugin : list_subdirectories(plugins).value_or({})) {
      ended += end_orphans_in(plugins + "/" + plugin);
      ::rmdir((plugins + "/" + plugin).c_str());  // when it is empty
    }
  }
  return ended;
}

std::string Confinement::free_name(const cgroup::Layout& layout, const std::string& plugin_id) {
  std::string name = plugin_id;
  for (int n = 2; has_processes(layout, cgroup_of(name)); ++n) name = plugin_id + "~" + std::to_string(n);
  return name;
}

Confinement::Confinement(const cgroup::Layout& layout, const std::string& name, const host::HomeLimits& limits)
    : layout_(layout), cgroup_(cgroup_of(name)) {
  const std::string memory = std::to_string(limits.memory_bytes);
  const std::string quota = std::to_string(limits.cpu_millis * (kPeriodUs / 1000));
  const std::string pids = std::to_string(limits.processes);
  if (limits.memory_bytes > 0)
    limits_memory_ = limit({Controller::memory, "memory.limit_in_bytes", memory, "memory.max", memory});
  if (limits.cpu_millis > 0)
    limit({Controller::cpu, "cpu.cfs_quota_us", quota, "cpu.max", quota + " " + std::to_string(kPeriodUs)});
  if (limits.processes > 0) limit({Controller::pids, "pids.max", pids, "pids.max", pids});
  oom_kills_before_ = count_oom_kills();
}

Confinement::~Confinement() {
  for (Controller controller : kControllers) {
    ::rmdir(layout_.directory(controller, cgroup_).c_str());
    ::rmdir(layout_.directory(controller, kPluginsCgroup).c_str());
  }
}

bool Confinement::limit(const Limit& limit) {
  Result<void> done = try_limit(limit);
  if (!done)
    problems_ += (problems_.empty() ? "" : "; ") + std::string(name_of(limit.controller)) + ": " + done.error().message();
  return done.has_value();
}

Result<void> Confinement::try_limit(const Limit& limit) {
  std::optional<cgroup::Version> version = layout_.version(limit.controller);
  if (!version) return invalid("this node has no such controller");
  const std::string parent = layout_.directory(limit.controller, kPluginsCgroup);
  const std::string own = layout_.directory(limit.controller, cgroup_);
  TRY(make_directory(parent));
  if (*version == cgroup::Version::v2) {
    const std::string enable = "+" + std::string(name_of(limit.controller));
    TRY(write_value(layout_.directory(limit.controller, "") + "/cgroup.subtree_control", enable));
    TRY(write_value(parent + "/cgroup.subtree_control", enable));
  }
  TRY(make_directory(own));
  bool v1 = *version == cgroup::Version::v1;
  return write_value(own + "/" + (v1 ? limit.v1_file : limit.v2_file), v1 ? limit.v1_value : limit.v2_value);
}

void Confinement::add(pid_t pid) {
  for (Controller controller : kControllers) {
    std::string path = layout_.directory(controller, cgroup_);
    if (path.empty() || ::access(path.c_str(), F_OK) != 0) continue;
    Result<void> moved = write_value(path + "/cgroup.procs", std::to_string(pid));
    if (moved) continue;
    problems_ += (problems_.empty() ? "" : "; ") + moved.error().message();
    if (controller == Controller::memory) limits_memory_ = false;
  }
}

std::uint64_t Confinement::oom_kills() const { return count_oom_kills() - oom_kills_before_; }

std::uint64_t Confinement::count_oom_kills() const {
  const std::string directory = layout_.directory(Controller::memory, cgroup_);
  if (directory.empty()) return 0;
  bool v1 = layout_.version(Controller::memory) == cgroup::Version::v1;
  const std::string text = read_file(directory + (v1 ? "/memory.oom_control" : "/memory.events")).value_or("");
  std::string_view rest = text;
  while (auto line = next_field(rest, '\n'))
    if (line->starts_with("oom_kill ")) return parse_uint(line->substr(9)).value_or(0);
  return 0;
}

}  // namespace koord::child
