// SPDX-License-Identifier: Apache-2.0
#include "core/child/end_processes.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::child {
namespace {

constexpr Duration kBetweenRounds = std::chrono::milliseconds(1);
constexpr unsigned kDeepest = 16;  // a plugin without a uid of its own may make cgroups below its own

// The deepest first.
void for_each_below(const std::string& directory, const std::function<void(const std::string&)>& visit, unsigned depth = 0) {
  if (depth < kDeepest)
    for (const std::string& child : list_subdirectories(directory).value_or({}))
      for_each_below(directory + "/" + child, visit, depth + 1);
  visit(directory);
}

std::set<pid_t> members_of(const std::string& directory) {
  std::set<pid_t> members;
  for_each_below(directory, [&](const std::string& cgroup) {
    const std::string list = read_file(cgroup + "/cgroup.procs").value_or("");
    std::string_view rest = list;
    while (auto line = next_field(rest, '\n'))
      if (const auto pid = static_cast<pid_t>(parse_int(*line).value_or(0)); pid > 0 && pid != ::getpid()) members.insert(pid);
  });
  return members;
}

// Uses the first means that the tree has. Returns true if the kernel has killed the processes itself.
bool stop_forking(const std::string& directory) {
  if (write_value(directory + "/cgroup.kill", "1")) return true;
  if (write_value(directory + "/cgroup.freeze", "1")) return false;
  for_each_below(directory, [](const std::string& cgroup) { [[maybe_unused]] auto done = write_value(cgroup + "/pids.max", "0"); });
  return false;
}

// A pidfd that was opened before the process was seen as a member is that of the member, or of one that has ended.
void kill_members(const std::string& directory, const std::set<pid_t>& members) {
  std::map<pid_t, UniqueFd> opened;
  for (pid_t pid : members)
    if (UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); fd) opened.emplace(pid, std::move(fd));
  for (pid_t pid : members_of(directory))
    if (auto found = opened.find(pid); found != opened.end())
      ::syscall(SYS_pidfd_send_signal, found->second.get(), SIGKILL, nullptr, 0);
}

}  // namespace

bool has_processes(const std::string& directory) { return !directory.empty() && !members_of(directory).empty(); }

void remove_cgroup(const std::string& directory) {
  if (!directory.empty()) for_each_below(directory, [](const std::string& cgroup) { ::rmdir(cgroup.c_str()); });
}

EndedProcesses end_processes(const std::string& directory, Duration patience) {
  std::set<pid_t> ended;
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const std::set<pid_t> members = members_of(directory);
    if (members.empty()) return {ended.size(), true};
    ended.insert(members.begin(), members.end());
    if (std::chrono::steady_clock::now() >= end) return {ended.size(), false};
    if (!stop_forking(directory)) kill_members(directory, members);
    std::this_thread::sleep_for(kBetweenRounds);
  }
}

}  // namespace koord::child
