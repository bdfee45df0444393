// SPDX-License-Identifier: Apache-2.0
#include "core/evict/container_kill.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/cgroup/names.hpp"
#include "core/cgroup/processes.hpp"

namespace koord::evict {
namespace {

// The limit of passes. Processes may be created between two passes.
constexpr int kMostPasses = 20;

constexpr std::int32_t kInit = 1;

// Returns the processes of a cgroup, without init. A cgroup that has ended has no processes.
Result<cgroup::Members> victims_in(const std::string& directory) {
  Result<cgroup::Members> members = cgroup::members_of(directory);
  if (!members && members.error().is(std::errc::no_such_device)) return cgroup::Members{};
  if (members && std::erase(members->pids, kInit) > 0) members->some_hidden = true;
  return members;
}

std::string directory_of(const cgroup::Layout& layout, std::string_view cgroup_dir) {
  std::string directory = layout.directory(cgroup::Controller::memory, cgroup_dir);
  return directory.empty() ? layout.unified_directory(cgroup_dir) : directory;
}

}  // namespace

Result<void> kill_cgroup(const cgroup::Layout& layout, std::string_view cgroup_dir) {
  if (cgroup_dir.empty() || !cgroup::is_cgroup(cgroup_dir))
    return invalid("'" + std::string(cgroup_dir) + "' is not a container's cgroup");
  const std::string directory = directory_of(layout, cgroup_dir);
  if (directory.empty()) return invalid("this node shows no cgroups of workloads");
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const cgroup::Members members = TRY(victims_in(directory));
    if (members.some_hidden)
      return invalid(directory +
                     " has processes that are not seen from here: the agent needs the node's PID namespace");
    if (members.pids.empty()) return {};
    // Since Linux 5.14 the kernel itself kills all processes at the same time, including those that are just being
    // created.
    if (write_value(directory + "/cgroup.kill", "1")) return {};
    cgroup::kill_members(directory, members.pids);
    ::usleep(5000);  // the kernel needs a moment to remove them; the next pass finds the other processes
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
  if (!any) return not_found("it has no running container with a known cgroup");
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
