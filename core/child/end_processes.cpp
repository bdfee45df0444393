// SPDX-License-Identifier: Apache-2.0
#include "core/child/end_processes.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/result.hpp"
#include "core/cgroup/processes.hpp"

namespace koord::child {
namespace {

constexpr Duration kBetweenRounds = std::chrono::milliseconds(1);
constexpr unsigned kDeepest = 16;  // a plugin without its own uid may make cgroups below its own

// Visits the cgroups below the directory, the deepest first, then the directory itself.
void for_each_below(const std::string& directory, const std::function<void(const std::string&)>& visit,
                    unsigned depth = 0) {
  if (depth < kDeepest)
    for (const std::string& child : list_subdirectories(directory).value_or({}))
      for_each_below(directory + "/" + child, visit, depth + 1);
  visit(directory);
}

// Returns the processes in the cgroup, except this process. A removed cgroup has no processes.
Result<std::vector<std::int32_t>> processes_in(const std::string& directory) {
  Result<cgroup::Members> members = cgroup::members_of(directory);
  if (!members && members.error().is(std::errc::no_such_device)) return std::vector<std::int32_t>();
  if (!members) return std::move(members).error();
  std::erase(members->pids, ::getpid());
  return std::move(members->pids);
}

// Stops forking by the first means that the tree has. Returns true if that was cgroup.kill, which also kills the
// processes.
bool stop_forking(const std::string& directory) {
  if (write_value(directory + "/cgroup.kill", "1")) return true;
  if (write_value(directory + "/cgroup.freeze", "1")) return false;
  for_each_below(directory, [](const std::string& cgroup) {
    [[maybe_unused]] auto done = write_value(cgroup + "/pids.max", "0");
  });
  return false;
}

}  // namespace

bool has_processes(const std::string& directory) {
  return !directory.empty() && !processes_in(directory).value_or({}).empty();
}

void remove_cgroup(const std::string& directory) {
  if (!directory.empty()) for_each_below(directory, [](const std::string& cgroup) { ::rmdir(cgroup.c_str()); });
}

EndedProcesses end_processes(const std::string& directory, Duration patience) {
  std::set<std::int32_t> ended;
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const Result<std::vector<std::int32_t>> members = processes_in(directory);
    if (members && members->empty()) return {ended.size(), true};
    if (members) ended.insert(members->begin(), members->end());
    if (std::chrono::steady_clock::now() >= end) return {ended.size(), false};
    if (!stop_forking(directory) && members) cgroup::kill_members(directory, *members);
    std::this_thread::sleep_for(kBetweenRounds);
  }
}

}  // namespace koord::child
