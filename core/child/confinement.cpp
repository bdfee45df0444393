// SPDX-License-Identifier: Apache-2.0
#include "core/child/confinement.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/child/orphans.hpp"
#include "core/child/plugins_cgroup.hpp"

namespace koord::child {
namespace {

using cgroup::Controller;

constexpr Controller kControllers[] = {Controller::memory, Controller::cpu, Controller::pids};
constexpr std::uint64_t kPeriodUs = 100'000;

Result<void> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return system_error(errno, "'" + path + "'");
  return {};
}

bool has_processes(const cgroup::Layout& layout, const std::string& cgroup) {
  for (Controller controller : kControllers) {
    const std::string directory = layout.directory(controller, cgroup);
    if (!directory.empty() && !read_file(directory + "/cgroup.procs").value_or("").empty()) return true;
  }
  return false;
}

}  // namespace

std::string Confinement::free_name(const cgroup::Layout& layout, const std::string& plugin_id) {
  const std::string plugins = plugins_cgroup(layout) + "/";
  std::string name = plugin_id;
  for (int n = 2; has_processes(layout, plugins + name); ++n) name = plugin_id + "~" + std::to_string(n);
  return name;
}

Confinement::Confinement(const cgroup::Layout& layout, const std::string& name, const host::HomeLimits& limits)
    : layout_(layout), name_(name), limits_(limits) {
  make();
}

Confinement::~Confinement() { remove(); }

void Confinement::make() {
  plugins_ = plugins_cgroup(layout_);
  cgroup_ = plugins_ + "/" + name_;
  const std::string memory = std::to_string(limits_.memory_bytes);
  const std::string quota = std::to_string(limits_.cpu_millis * (kPeriodUs / 1000));
  const std::string pids = std::to_string(limits_.processes);
  if (limits_.memory_bytes > 0)
    limits_memory_ = limit({Controller::memory, "memory.limit_in_bytes", memory, "memory.max", memory});
  if (limits_.cpu_millis > 0)
    limit({Controller::cpu, "cpu.cfs_quota_us", quota, "cpu.max", quota + " " + std::to_string(kPeriodUs)});
  if (limits_.processes > 0) limit({Controller::pids, "pids.max", pids, "pids.max", pids});
  lock();
  oom_kills_before_ = count_oom_kills();
}

void Confinement::remove() {
  locks_.clear();
  for (Controller controller : kControllers) {
    ::rmdir(layout_.directory(controller, cgroup_).c_str());
    ::rmdir(layout_.directory(controller, plugins_).c_str());
  }
}

void Confinement::lock() {
  for (Controller controller : kControllers)
    if (const std::string path = layout_.directory(controller, cgroup_); !path.empty())
      if (UniqueFd locked = lock_cgroup(path)) locks_.push_back(std::move(locked));
}

void Confinement::note(const std::string& problem) { problems_ += (problems_.empty() ? "" : "; ") + problem; }

bool Confinement::limit(const Limit& limit) {
  Result<void> done = try_limit(limit);
  if (!done) note(std::string(name_of(limit.controller)) + ": " + done.error().message());
  return done.has_value();
}

Result<void> Confinement::try_limit(const Limit& limit) {
  std::optional<cgroup::Version> version = layout_.version(limit.controller);
  if (!version) return invalid("this node has no such controller");
  const std::string parent = layout_.directory(limit.controller, plugins_);
  const std::string own = layout_.directory(limit.controller, cgroup_);
  TRY(make_directory(parent));
  if (*version == cgroup::Version::v2) {
    const std::string enable = "+" + std::string(name_of(limit.controller));
    TRY(write_value(parent + "/../cgroup.subtree_control", enable));
    TRY(write_value(parent + "/cgroup.subtree_control", enable));
  }
  TRY(make_directory(own));
  bool v1 = *version == cgroup::Version::v1;
  return write_value(own + "/" + (v1 ? limit.v1_file : limit.v2_file), v1 ? limit.v1_value : limit.v2_value);
}

// The kernel answers ENOENT, with the file there, to who would move a process out of a cgroup namespace (cgroup v2 with
// nsdelegate, Linux 4.13).
bool Confinement::is_out_of_reach(pid_t pid) const {
  const std::string directory = layout_.unified_directory(cgroup_);
  if (plugins_ != kPluginsCgroup || directory.empty() || ::access(directory.c_str(), F_OK) != 0) return false;
  Result<void> moved = write_value(directory + "/cgroup.procs", std::to_string(pid));
  return !moved && moved.error().is(std::errc::no_such_file_or_directory);
}

void Confinement::add(pid_t pid) {
  if (is_out_of_reach(pid)) {
    remove();
    problems_.clear();
    if (Result<void> moved = move_agent_aside(layout_); !moved) note(moved.error().message());
    make();
  }
  for (Controller controller : kControllers) {
    std::string path = layout_.directory(controller, cgroup_);
    if (path.empty() || ::access(path.c_str(), F_OK) != 0) continue;
    Result<void> moved = write_value(path + "/cgroup.procs", std::to_string(pid));
    if (moved) continue;
    note(moved.error().message());
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
