// SPDX-License-Identifier: Apache-2.0
#include "core/child/confinement.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/cgroup/processes.hpp"
#include "core/child/end_processes.hpp"
#include "core/child/orphans.hpp"
#include "core/child/plugins_cgroup.hpp"

namespace koord::child {
namespace {

using cgroup::Controller;

constexpr Controller kControllers[] = {Controller::memory, Controller::cpu, Controller::pids};
constexpr std::uint64_t kPeriodUs = 100'000;
constexpr Duration kEndOfAllPatience = std::chrono::seconds(1);
constexpr unsigned kMostChildren = 10'000;
// The time limit from SIGKILL to the end of a process, because the kernel removes no cgroup that has a process. The
// cgroup's quota may slow the end down.
constexpr Duration kRemovalPatience = std::chrono::seconds(2);
// While the agent starts a process, that process holds the agent's descriptors, and so the locks, until it executes its
// program.
constexpr Duration kLockPatience = std::chrono::milliseconds(20);
constexpr Duration kBetweenRemovals = std::chrono::milliseconds(1);
// A cgroup may be removed between its creation and its lock, by a different agent that starts, or at the end of the
// last other child.
constexpr int kMostAttempts = 100;
// A cgroup may be removed and created again between a refused write and the check whether it exists.
constexpr int kMostWrites = 5;

Result<void> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return system_error(errno, "'" + path + "'");
  return {};
}

// Returns the directory in the tree that assigns processes to children; empty: no such tree.
std::string tracking_directory(const cgroup::Layout& layout, const std::string& cgroup) {
  if (std::string unified = layout.unified_directory(cgroup); !unified.empty()) return unified;
  for (Controller controller : {Controller::pids, Controller::memory, Controller::cpu})
    if (std::string directory = layout.directory(controller, cgroup); !directory.empty()) return directory;
  return {};
}

bool is_in_use(const cgroup::Layout& layout, const std::string& cgroup) {
  for (Controller controller : kControllers)
    if (has_processes(layout.directory(controller, cgroup))) return true;
  return has_processes(tracking_directory(layout, cgroup));
}

// Removes the cgroup. Waits until killed processes have left it, unless another child has locked it.
void remove_when_empty(const std::string& directory, std::chrono::steady_clock::time_point begin) {
  if (directory.empty()) return;
  for (;;) {
    const Removal removal = remove_unlocked_cgroup(directory);
    const Duration waited = std::chrono::steady_clock::now() - begin;
    if (removal == Removal::done || waited >= (removal == Removal::busy ? kRemovalPatience : kLockPatience)) return;
    std::this_thread::sleep_for(kBetweenRemovals);
  }
}

// Returns whether a write failed with ENODEV, which means that its file was opened before the cgroup was removed.
bool is_of_removed_cgroup(const Result<void>& done) { return !done && done.error().is(std::errc::no_such_device); }

bool is_missing(const Result<void>& done) {
  return is_of_removed_cgroup(done) || (!done && done.error().is(std::errc::no_such_file_or_directory));
}

bool is_absent(const std::string& path) { return ::access(path.c_str(), F_OK) != 0 && errno == ENOENT; }

}  // namespace

std::string Confinement::free_name(const cgroup::Layout& layout, const std::string& plugin_id) {
  const std::string plugins = plugins_cgroup(layout) + "/";
  std::string name = plugin_id;
  for (int n = 2; is_in_use(layout, plugins + name); ++n) name = plugin_id + "~" + std::to_string(n);
  return name;
}

std::vector<std::int32_t> Confinement::processes_of(const cgroup::Layout& layout, const std::string& plugin_id) {
  std::vector<std::int32_t> pids;
  const std::string plugins = tracking_directory(layout, plugins_cgroup(layout));
  if (plugins.empty()) return pids;
  for (const std::string& name : list_subdirectories(plugins).value_or({})) {
    if (name != plugin_id && !name.starts_with(plugin_id + "~")) continue;
    if (const auto members = cgroup::members_of(plugins + "/" + name))
      pids.insert(pids.end(), members->pids.begin(), members->pids.end());
  }
  return pids;
}

Confinement::Confinement(const cgroup::Layout& layout, const std::string& name, const host::RunnerLimits& limits)
    : layout_(layout), name_(name), limits_(limits) {
  make();
}

Confinement::~Confinement() {
  end_all();
  remove();
}

// Makes the cgroups and locks them. The child's own cgroup is made under the lock, so that no other child uses or
// removes a free name meanwhile.
void Confinement::make() {
  plugins_ = plugins_cgroup(layout_);
  cgroup_ = plugins_ + "/" + name_;
  bool is_locked = false;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    locks_.clear();
    problems_.clear();
    made_.clear();
    is_gone_ = false;
    make_shared();
    is_locked = lock();
    if (is_locked && !is_gone_) break;
  }
  if (!is_locked) note("the cgroup cannot be locked");
  make_own();
  oom_kills_before_ = count_oom_kills();
}

// Makes the cgroups that all children of the plugin share, and sets their limits.
void Confinement::make_shared() {
  const std::string memory = std::to_string(limits_.memory_bytes);
  const std::string quota = std::to_string(limits_.cpu_millis * (kPeriodUs / 1000));
  const std::string pids = std::to_string(limits_.processes);
  if (limits_.memory_bytes > 0)
    limits_memory_ = limit({Controller::memory, "memory.limit_in_bytes", memory, "memory.max", memory});
  if (limits_.cpu_millis > 0)
    limit({Controller::cpu, "cpu.cfs_quota_us", quota, "cpu.max", quota + " " + std::to_string(kPeriodUs)});
  if (limits_.processes > 0) limit({Controller::pids, "pids.max", pids, "pids.max", pids});
  // Another child may have limited a controller that this one does not limit.
  for (Controller controller : kControllers)
    if (const std::string directory = layout_.directory(controller, cgroup_); ::access(directory.c_str(), F_OK) == 0)
      made_.insert(directory);
  const std::string tracking = tracking_directory(layout_, cgroup_);
  if (tracking.empty()) return;
  if (Result<void> made = make_below(tracking_directory(layout_, plugins_), tracking); !made)
    note(made.error().message());
}

// Removes the child's cgroups. A child without its own cgroup is only in the cgroup of its plugin. The own cgroup is
// removed while the lock is held, because later a different child may have made a cgroup of the same name. Only the
// last steps wait for its processes.
void Confinement::remove() {
  const auto begin = std::chrono::steady_clock::now();
  remove_cgroup(own_);
  locks_.clear();
  if (const std::string tracking = tracking_directory(layout_, plugins_); !tracking.empty()) {
    remove_when_empty(tracking + "/" + name_, begin);
    ::rmdir(tracking.c_str());
  }
  for (Controller controller : kControllers) {
    remove_when_empty(layout_.directory(controller, cgroup_), begin);
    ::rmdir(layout_.directory(controller, plugins_).c_str());
  }
}

// Makes a cgroup with a name that no other child has.
void Confinement::make_own() {
  own_.clear();
  const std::string tracking = tracking_directory(layout_, cgroup_);
  if (tracking.empty()) return;
  Result<void> made;
  for (unsigned n = 1; made && n <= kMostChildren; ++n) {
    const std::string path = tracking + "/child-" + std::to_string(n);
    if (::mkdir(path.c_str(), 0755) == 0) {
      own_ = path;
      return;
    }
    if (errno != EEXIST) made = system_error(errno, "'" + path + "'");
  }
  note(made ? "all names of cgroups for children are taken" : made.error().message());
}

// Makes the cgroup `own` and its parent, which the end of the last other child may remove meanwhile. Succeeds if `own`
// exists already.
Result<void> Confinement::make_below(const std::string& parent, const std::string& own) {
  Result<void> made;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    TRY(make_directory(parent));
    made = make_directory(own);
    if (!is_missing(made)) break;
  }
  if (made) made_.insert(own);
  return made;
}

// Returns the cgroup of this controller's tree that processes of this child are moved to; empty: none.
std::string Confinement::place_of(Controller controller) const {
  const std::string directory = layout_.directory(controller, cgroup_);
  if (!own_.empty() && own_.starts_with(directory + "/")) return own_;
  return !directory.empty() && ::access(directory.c_str(), F_OK) == 0 ? directory : std::string();
}

void Confinement::end_all() {
  if (!own_.empty()) end_processes(own_, kEndOfAllPatience);
}

// Locks all cgroups that were made. Returns false if a different agent has removed one of these cgroups meanwhile.
bool Confinement::lock() {
  for (const std::string& directory : made_) {
    UniqueFd locked = lock_cgroup(directory);
    if (!locked) return false;
    locks_.push_back(std::move(locked));
  }
  return true;
}

void Confinement::note(const std::string& problem) { problems_ += (problems_.empty() ? "" : "; ") + problem; }

bool Confinement::limit(const Limit& limit) {
  Result<void> done = try_limit(limit);
  bool is_gone = false;
  for (int write = 1; is_missing(done); ++write) {
    is_gone = is_of_removed_cgroup(done) || is_removed(limit.controller);
    if (is_gone || write == kMostWrites) break;
    done = try_limit(limit);
  }
  is_gone_ = is_gone_ || is_gone;
  if (!done) note(std::string(name_of(limit.controller)) + ": " + done.error().message());
  return done.has_value();
}

// Returns whether a cgroup was removed. An ENOENT of the kernel does not prove this. It may also mean that an existing
// cgroup lacks the file (v1), or that the parent has not enabled the controller (v2). In these cases, making the cgroup
// again does not help.
bool Confinement::is_removed(Controller controller) const {
  return is_absent(layout_.directory(controller, plugins_)) || is_absent(layout_.directory(controller, cgroup_));
}

Result<void> Confinement::try_limit(const Limit& limit) {
  std::optional<cgroup::Version> version = layout_.version(limit.controller);
  if (!version) return invalid("this node has no such controller");
  const std::string parent = layout_.directory(limit.controller, plugins_);
  const std::string own = layout_.directory(limit.controller, cgroup_);
  if (*version == cgroup::Version::v2) {
    TRY(make_directory(parent));
    const std::string enable = "+" + std::string(name_of(limit.controller));
    TRY(write_value(parent + "/../cgroup.subtree_control", enable));
    TRY(write_value(parent + "/cgroup.subtree_control", enable));
  }
  TRY(make_below(parent, own));
  bool v1 = *version == cgroup::Version::v1;
  return write_value(own + "/" + (v1 ? limit.v1_file : limit.v2_file), v1 ? limit.v1_value : limit.v2_value);
}

// Returns whether this agent can move no process to a plugins' cgroup at the root. On cgroup v2 with nsdelegate (Linux
// 4.13) the kernel answers ENOENT for an existing file if a process would leave its cgroup namespace. The root of the
// hierarchy has mode 0555, so only root with CAP_DAC_OVERRIDE can make a cgroup there.
bool Confinement::is_out_of_reach(pid_t pid) const {
  const std::string directory = layout_.unified_directory(cgroup_);
  if (layout_.hierarchy() != cgroup::Hierarchy::v2 || plugins_ != kPluginsCgroup || directory.empty()) return false;
  if (::access(directory.c_str(), F_OK) != 0)
    return ::access(layout_.unified_directory("").c_str(), W_OK) != 0 && errno == EACCES;
  Result<void> moved = write_value(directory + "/cgroup.procs", std::to_string(pid));
  return !moved && moved.error().is(std::errc::no_such_file_or_directory);
}

bool Confinement::move(pid_t pid, const std::string& directory, std::map<std::string, bool>& moved_to) {
  auto [known, is_new] = moved_to.emplace(directory, true);
  if (!is_new) return known->second;
  Result<void> moved = write_value(directory + "/cgroup.procs", std::to_string(pid));
  if (!moved) note(moved.error().message());
  return known->second = moved.has_value();
}

void Confinement::add(pid_t pid) {
  if (is_out_of_reach(pid)) {
    remove();
    problems_.clear();
    if (Result<void> moved = move_agent_aside(layout_); !moved) note(moved.error().message());
    make();
  }
  std::map<std::string, bool> moved_to;
  if (!own_.empty()) move(pid, own_, moved_to);
  for (Controller controller : kControllers) {
    const std::string path = place_of(controller);
    if (!path.empty() && !move(pid, path, moved_to) && controller == Controller::memory) limits_memory_ = false;
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
