// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/processes.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/base/pidfd.hpp"
#include "core/base/unique_fd.hpp"

namespace koord::cgroup {
namespace {

// A container with its own cgroup namespace may make any number of cgroups.
constexpr std::size_t kMostCgroupsWalked = 10'000;

std::string directory_with_processes(const Layout& layout, std::string_view cgroup) {
  for (Controller controller : {Controller::cpu, Controller::memory, Controller::pids, Controller::cpuacct,
                                Controller::blkio, Controller::cpuset})
    if (std::string directory = layout.directory(controller, cgroup); !directory.empty()) return directory;
  return layout.unified_directory(cgroup);
}

Result<void> add_processes(const std::string& directory, Members& found) {
  Result<std::string> content = read_file(directory + "/cgroup.procs");
  // A threaded cgroup contains threads. Their processes are listed in its parent cgroup.
  if (!content && content.error().is(std::errc::operation_not_supported)) return {};
  if (!content) return std::move(content).error();
  std::string_view rest = *content;
  while (auto line = next_field(rest, '\n')) {
    const Result<std::uint64_t> pid = parse_uint(*line);
    if (!pid || *pid > INT32_MAX) continue;
    if (*pid == 0)
      found.some_hidden = true;
    else
      found.pids.push_back(static_cast<std::int32_t>(*pid));
  }
  return {};
}

bool has_ended(const Error& error) {
  return error.is(std::errc::no_such_file_or_directory) || error.is(std::errc::no_such_device);
}

}  // namespace

Result<Members> members_of(const std::string& directory, std::size_t max_cgroups) {
  std::vector<std::string> to_visit{directory};
  Members found;
  for (std::size_t visited = 0; !to_visit.empty(); ++visited) {
    if (visited == max_cgroups)
      return system_error(E2BIG, "'" + directory + "' has more than " + std::to_string(max_cgroups) + " cgroups");
    const std::string next = std::exchange(to_visit.back(), {});
    to_visit.pop_back();
    if (Result<void> added = add_processes(next, found); !added) {
      if (!has_ended(added.error())) return std::move(added).error();
      if (visited == 0) return system_error(ENODEV, "'" + directory + "'");
      continue;
    }
    for (const std::string& child : list_subdirectories(next).value_or({})) to_visit.push_back(next + "/" + child);
  }
  std::sort(found.pids.begin(), found.pids.end());
  found.pids.erase(std::unique(found.pids.begin(), found.pids.end()), found.pids.end());
  return found;
}

void kill_members(const std::string& directory, std::span<const std::int32_t> pids) {
  std::vector<std::pair<std::int32_t, UniqueFd>> opened;
  for (const std::int32_t pid : pids) opened.emplace_back(pid, open_pidfd(pid));
  const Result<Members> now = members_of(directory);
  if (!now) return;
  for (const auto& [pid, fd] : opened) {
    if (!std::binary_search(now->pids.begin(), now->pids.end(), pid)) continue;
    if (fd)
      ::syscall(SYS_pidfd_send_signal, fd.get(), SIGKILL, nullptr, 0);
    else
      ::kill(pid, SIGKILL);
  }
}

Result<std::vector<std::int32_t>> processes_below(const Layout& layout, std::string_view cgroup) {
  if (cgroup.empty()) return invalid("the cgroup's name is empty, expected one below the root");
  const std::string name = "the cgroup '" + std::string(cgroup) + "'";
  Result<Members> found = members_of(directory_with_processes(layout, cgroup), kMostCgroupsWalked);
  if (!found && found.error().is(std::errc::no_such_device)) return system_error(ENODEV, name + " does not exist");
  if (!found) return std::move(found).error().context(name);
  if (found->pids.empty() && found->some_hidden)
    return system_error(ENOTSUP, "the processes of " + name + " are in another PID namespace (a pod needs hostPID)");
  return std::move(found->pids);
}

}  // namespace koord::cgroup
