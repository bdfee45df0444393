// SPDX-License-Identifier: Apache-2.0
#include "core/evict/container_kill.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/cgroup/names.hpp"

namespace koord::evict {
namespace {

// Between two looks processes may be born.
constexpr int kMostPasses = 20;

struct Members {
  std::vector<pid_t> pids;
  bool hidden = false;  // some are in another PID namespace, and have no number here
};

Result<void> add_members(const std::string& directory, Members& members) {
  const std::string listed = TRY(read_file(directory + "/cgroup.procs"));
  for (std::string_view line : split(listed, '\n')) {
    const Result<std::int64_t> pid = parse_int(trim(line));
    if (!pid) continue;
    if (*pid > 1)
      members.pids.push_back(static_cast<pid_t>(*pid));
    else
      members.hidden = true;
  }
  const Result<std::vector<std::string>> below = list_subdirectories(directory);
  if (!below) return {};  // it has ended meanwhile
  for (const std::string& name : *below) {
    Result<void> added = add_members(directory + "/" + name, members);
    if (!added && !added.error().is(std::errc::no_such_file_or_directory) && !added.error().is(std::errc::no_such_device)) return added;
  }
  return {};
}

// Gone altogether is fine.
Result<Members> members_of(const std::string& directory) {
  Members members;
  Result<void> read = add_members(directory, members);
  if (!read && !read.error().is(std::errc::no_such_file_or_directory) && !read.error().is(std::errc::no_such_device)) return read.error();
  return members;
}

// A number may be somebody else's by now; a descriptor taken before the process was seen here once more is not.
void kill_those_still_there(const std::vector<pid_t>& pids, const std::string& directory) {
  std::vector<std::pair<pid_t, UniqueFd>> held;
  for (pid_t pid : pids) held.emplace_back(pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  const Result<Members> now = members_of(directory);
  if (!now) return;
  for (const auto& [pid, fd] : held) {
    if (std::find(now->pids.begin(), now->pids.end(), pid) == now->pids.end()) continue;
    if (fd)
      ::syscall(SYS_pidfd_send_signal, fd.get(), SIGKILL, nullptr, 0);
    else
      ::kill(pid, SIGKILL);  // a kernel before 5.3
  }
}

std::string directory_of(const cgroup::Layout& layout, std::string_view cgroup_dir) {
  std::string directory = layout.directory(cgroup::Controller::memory, cgroup_dir);
  return directory.empty() ? layout.unified_directory(cgroup_dir) : directory;
}

}  // namespace

Result<void> kill_cgroup(const cgroup::Layout& layout, std::string_view cgroup_dir) {
  if (cgroup_dir.empty() || !cgroup::is_cgroup(cgroup_dir)) return invalid("'" + std::string(cgroup_dir) + "' is no container's cgroup");
  const std::string directory = directory_of(layout, cgroup_dir);
  if (directory.empty()) return invalid("this node shows no cgroups of workloads");
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const Members members = TRY(members_of(directory));
    if (members.hidden) return invalid(directory + " has processes that are not seen from here: the agent needs the node's PID namespace");
    if (members.pids.empty()) return {};
    // From 5.14 on the kernel itself ends all at once, also those that are being born.
    if (write_value(directory + "/cgroup.kill", "1")) return {};
    kill_those_still_there(members.pids, directory);
    ::usleep(5000);  // the kernel takes a moment to let them go; who is left is looked for again
  }
  return system_error(EBUSY, directory + " still has processes");
}

Result<void> kill_containers(const cgroup::Layout& layout, const state::Pod& pod) {
  std::vector<std::string> problems;
  bool any = false;
  for (const state::Container& container : pod.containers) {
    const bool runs = container.state == state::ContainerState::running && !container.cgroup_dir.empty();
    if (!runs || container.kind == state::ContainerKind::sandbox) continue;
    any = true;
    Result<void> ended = kill_cgroup(layout, container.cgroup_dir);
    if (!ended) problems.push_back(container.name + ": " + ended.error().message());
  }
  if (!any) return not_found("it has no running container whose cgroup is known");
  if (!problems.empty()) return invalid(join(problems, "; "));
  return {};
}

std::optional<double> full_memory_pressure(std::string_view text) {
  constexpr std::string_view kAverage = "avg10=";
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with("full ")) continue;
    const std::size_t at = line.find(kAverage);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view number = line.substr(at + kAverage.size());
    double percent = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), percent);
    return read.ec == std::errc() ? std::optional(percent) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace koord::evict
