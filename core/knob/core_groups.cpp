// SPDX-License-Identifier: Apache-2.0
#include "core/knob/core_groups.hpp"

#include <algorithm>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/knob/failures.hpp"
#include "core/knob/process_texts.hpp"
#include "core/knob/processes.hpp"

namespace koord::knob {
namespace {

constexpr int kMostRepeats = 4;  // limits the work for a container that forks endlessly

Error refused_call(int error, const std::string& what) {
  if (error == EINVAL) return unsupported("the kernel was built without CONFIG_SCHED_CORE");
  if (error == ENODEV) return unsupported("no simultaneous multithreading, so nothing to keep apart");
  if (error == EPERM || error == EACCES) return system_error(error, what + " (needs CAP_SYS_PTRACE)");
  return system_error(error, what);
}

}  // namespace

CoreGroups::CoreGroups(std::string proc_root, const cgroup::Layout& layout,
                       std::shared_ptr<const CoreSchedulingCalls> calls)
    : proc_root_(std::move(proc_root)),
      layout_(layout),
      calls_(calls ? std::move(calls) : std::make_shared<const KernelCoreScheduling>()) {}

// Returns one thread of each cookie in the cgroup. Cookie 0 means no group.
Result<CoreGroups::Cookies> CoreGroups::cookies_in(std::string_view cgroup_dir) const {
  Cookies cookies;
  for (const std::int32_t pid : TRY(processes_in(layout_, cgroup_dir))) {
    for (const std::string& name :
         list_directory(proc_root_ + "/" + std::to_string(pid) + "/task").value_or(std::vector<std::string>())) {
      const auto thread = static_cast<std::int32_t>(parse_int(name).value_or(0));
      std::uint64_t cookie = 0;
      const int error = thread == 0 ? ESRCH : calls_->get(thread, cookie);
      if (error == ESRCH) continue;  // the thread has ended
      if (error != 0) return refused_call(error, "cannot read the core-scheduling cookie of thread " + name);
      cookies.emplace(cookie, thread);
    }
  }
  if (cookies.empty()) return ended("the processes of '" + std::string(cgroup_dir) + "' have ended");
  return cookies;
}

// Returns the group's name; empty: a different program set the cookie. Called with mutex_ locked.
std::string CoreGroups::name_of(std::uint64_t cookie) const {
  const auto found =
      std::find_if(groups_.begin(), groups_.end(), [&](const auto& group) { return group.second.cookie == cookie; });
  return found == groups_.end() ? std::string() : found->first;
}

Result<std::string> CoreGroups::read(const KnobTarget& target) const {
  const Cookies cookies = TRY(cookies_in(target.cgroup_dir));
  std::lock_guard lock(mutex_);
  std::vector<CoreGroupLine> groups;
  for (const auto& [cookie, thread] : cookies) {
    std::string name = cookie == 0 ? std::string() : name_of(cookie);
    if (cookie != 0 && name.empty()) name = kForeignGroup;
    groups.emplace_back(std::move(name), cookie);
  }
  return text_of(groups);
}

Result<void> CoreGroups::write(const KnobTarget& target, const std::string& text) const {
  const std::vector<CoreGroupLine> wanted = TRY(parse_core_groups(text));
  if (wanted.size() != 1 || wanted[0].first.starts_with(kForeignGroup))
    return invalid("'" + text.substr(0, 100) + "' cannot be written, expected one core group");
  const std::string& name = wanted[0].first;
  const Cookies before = TRY(cookies_in(target.cgroup_dir));
  std::lock_guard lock(mutex_);
  for (const auto& [cookie, thread] : before)
    if (cookie != 0 && name_of(cookie).empty())
      return busy("thread " + std::to_string(thread) +
                  " has a core-scheduling cookie of another program, which could not be restored");
  if (name.empty()) {
    TRY(give(target.cgroup_dir, std::nullopt, true));
    return {};
  }
  Group group = groups_.contains(name) ? groups_.find(name)->second : Group();
  const std::optional<std::int32_t> donor = donor_of(group);
  group.cookie = TRY(give(target.cgroup_dir, donor, false));
  group.cgroup_dirs.emplace(target.cgroup_dir);
  groups_.insert_or_assign(name, std::move(group));
  return {};
}

// Returns a thread that has the group's cookie. Removes cgroups in which no thread has it from the group.
std::optional<std::int32_t> CoreGroups::donor_of(Group& group) const {
  std::optional<std::int32_t> donor;
  std::erase_if(group.cgroup_dirs, [&](const std::string& dir) {
    const Cookies cookies = cookies_in(dir).value_or(Cookies());
    const auto found = cookies.find(group.cookie);
    if (found != cookies.end()) donor = found->second;
    return found == cookies.end();
  });
  return donor;
}

// Sets the cookie of all processes of the cgroup: the donor's cookie, a new cookie if there is no donor, or no cookie
// for `is_no_group`. Returns the cookie.
Result<std::uint64_t> CoreGroups::give(std::string_view cgroup_dir, std::optional<std::int32_t> donor,
                                       bool is_no_group) const {
  std::uint64_t cookie = 0;
  Result<void> shared;
  on_throw_away_thread([&] {
    int error = is_no_group ? 0 : donor ? calls_->share_from(*donor) : calls_->create();
    if (error == 0) error = calls_->get(0, cookie);
    if (error != 0)
      shared = refused_call(error, "cannot prepare a core-scheduling cookie");
    else if (is_no_group && cookie != 0)
      shared = busy("the agent itself is in a core-scheduling group, so it cannot clear that of others");
    else
      shared = share(cgroup_dir, cookie);
  });
  if (!shared) return std::move(shared).error();
  return cookie;
}

// Copies the cookie of the calling thread to all processes of the cgroup. Called on the throw-away thread.
Result<void> CoreGroups::share(std::string_view cgroup_dir, std::uint64_t cookie) const {
  for (int repeat = 0; repeat < kMostRepeats; ++repeat) {  // processes may fork during a pass
    for (const std::int32_t pid : TRY(processes_in(layout_, cgroup_dir))) {
      const int error = calls_->share_to(pid);
      if (error != 0 && error != ESRCH)
        return refused_call(error, "cannot set the core-scheduling cookie of process " + std::to_string(pid));
    }
    const Cookies now = TRY(cookies_in(cgroup_dir));
    if (now.size() == 1 && now.begin()->first == cookie) break;
  }
  return {};
}

std::uint64_t CoreGroups::inode(const KnobTarget& target) const { return cgroup_inode(layout_, target.cgroup_dir); }

// If the previous agent was killed between a write and its journal entry, the journal has the group without a cookie.
// In that case, the group's cookie is the cookie of the container's processes.
void CoreGroups::adopt(const KnobTarget& target, const std::vector<std::string>& written) const {
  std::lock_guard lock(mutex_);
  const auto learn = [&](const std::string& name, std::uint64_t cookie) {
    Group& group = groups_[name];
    if (group.cookie == 0) group.cookie = cookie;
    if (group.cookie == cookie) group.cgroup_dirs.emplace(target.cgroup_dir);
  };
  std::optional<std::string> unknown;
  for (const std::string& text : written)
    for (const auto& [name, cookie] : parse_core_groups(text).value_or(std::vector<CoreGroupLine>())) {
      if (name.empty() || name.starts_with(kForeignGroup)) continue;
      if (cookie != 0)
        learn(name, cookie);
      else
        unknown = name;
    }
  if (!unknown || (groups_.contains(*unknown) && groups_.find(*unknown)->second.cookie != 0)) return;
  for (const auto& [cookie, thread] : cookies_in(target.cgroup_dir).value_or(Cookies()))
    if (cookie != 0 && name_of(cookie).empty()) return learn(*unknown, cookie);
}

}  // namespace koord::knob
