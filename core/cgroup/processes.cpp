// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/processes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::cgroup {
namespace {

// A container with a cgroup namespace of its own may make as many cgroups as it likes.
constexpr std::size_t kMostCgroupsWalked = 10'000;

std::string directory_with_processes(const Layout& layout, std::string_view cgroup) {
  for (Controller controller : {Controller::cpu, Controller::memory, Controller::pids, Controller::cpuacct, Controller::blkio, Controller::cpuset})
    if (std::string directory = layout.directory(controller, cgroup); !directory.empty()) return directory;
  return layout.unified_directory(cgroup);
}

struct FoundProcesses {
  std::vector<std::int32_t> pids;
  bool some_hidden = false;  // the kernel shows a process of another PID namespace as 0
};

Result<void> add_processes(const std::string& directory, FoundProcesses& found) {
  Result<std::string> content = read_file(directory + "/cgroup.procs");
  // A threaded cgroup has threads; their processes are listed in the cgroup above it.
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

Result<std::vector<std::int32_t>> processes_below(const Layout& layout, std::string_view cgroup) {
  if (cgroup.empty()) return invalid("the cgroup's name is empty, expected one below the root");
  std::vector<std::string> to_visit{directory_with_processes(layout, cgroup)};
  FoundProcesses found;
  for (std::size_t visited = 0; !to_visit.empty(); ++visited) {
    if (visited == kMostCgroupsWalked) return system_error(E2BIG, "the cgroup '" + std::string(cgroup) + "' has more than " + std::to_string(kMostCgroupsWalked) + " cgroups below it");
    const std::string directory = std::exchange(to_visit.back(), {});
    to_visit.pop_back();
    if (Result<void> added = add_processes(directory, found); !added) {
      if (!has_ended(added.error())) return std::move(added).error();
      if (visited == 0) return system_error(ENODEV, "the cgroup '" + std::string(cgroup) + "' does not exist");
      continue;
    }
    for (const std::string& child : list_subdirectories(directory).value_or({})) to_visit.push_back(directory + "/" + child);
  }
  std::sort(found.pids.begin(), found.pids.end());
  found.pids.erase(std::unique(found.pids.begin(), found.pids.end()), found.pids.end());
  if (found.pids.empty() && found.some_hidden)
    return system_error(ENOTSUP, "the processes of the cgroup '" + std::string(cgroup) + "' are in another PID namespace (a pod needs hostPID)");
  return std::move(found.pids);
}

}  // namespace koord::cgroup
