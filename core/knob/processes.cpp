// SPDX-License-Identifier: Apache-2.0
#include "core/knob/processes.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/cgroup/processes.hpp"
#include "core/knob/failures.hpp"

namespace koord::knob {
namespace {

using cgroup::Controller;

// Returns "starttime" of /proc/PID/stat (proc(5)), the 20th word after the name. The name may contain parentheses and
// spaces.
std::optional<std::uint64_t> start_in(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  stat.remove_prefix(name_end + 1);
  std::optional<std::string_view> word;
  for (int i = 0; i < 20; ++i) word = next_word(stat);
  const Result<std::uint64_t> start = parse_uint(word.value_or(""));
  return start ? std::optional(*start) : std::nullopt;
}

}  // namespace

std::optional<OpenProcess> open_process(const std::string& proc_root, std::int32_t pid) {
  Result<UniqueFd> directory = open_at(AT_FDCWD, proc_root + "/" + std::to_string(pid), O_PATH | O_DIRECTORY);
  if (!directory) return std::nullopt;
  const Result<std::string> stat = read_file_at(directory->get(), "stat");
  const std::optional<std::uint64_t> start = stat ? start_in(*stat) : std::nullopt;
  if (!start) return std::nullopt;
  return OpenProcess{{pid, *start}, std::move(*directory)};
}

bool is_ended(const Error& error) {
  return error.is(std::errc::no_such_process) || error.is(std::errc::no_such_file_or_directory);
}

Result<std::vector<std::int32_t>> processes_in(const cgroup::Layout& layout, std::string_view cgroup_dir) {
  std::vector<std::int32_t> pids = TRY(cgroup::processes_below(layout, cgroup_dir));
  if (pids.empty()) return ended("'" + std::string(cgroup_dir) + "' has no process");
  if (pids.size() > kMostProcesses)
    return Error{std::make_error_code(std::errc::argument_list_too_long),
                 "'" + std::string(cgroup_dir) + "' has " + std::to_string(pids.size()) +
                     " processes, expected at most " + std::to_string(kMostProcesses)};
  return pids;
}

std::uint64_t cgroup_inode(const cgroup::Layout& layout, std::string_view cgroup_dir) {
  struct stat about;
  for (const Controller controller : {Controller::cpu, Controller::memory, Controller::pids, Controller::cpuset})
    if (const std::string path = layout.directory(controller, cgroup_dir); !path.empty())
      return ::stat(path.c_str(), &about) == 0 ? about.st_ino : 0;
  const std::string path = layout.unified_directory(cgroup_dir);
  return !path.empty() && ::stat(path.c_str(), &about) == 0 ? about.st_ino : 0;
}

}  // namespace koord::knob
