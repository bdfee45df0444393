// SPDX-License-Identifier: Apache-2.0
#include "core/child/orphans.hpp"

#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <set>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/child/plugins_cgroup.hpp"

namespace koord::child {
namespace {

using cgroup::Controller;

bool is_locked(const UniqueFd& directory) {
  return ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

void end_all_in(const std::string& directory, std::set<pid_t>& ended) {
  const std::string list = read_file(directory + "/cgroup.procs").value_or("");
  std::string_view rest = list;
  while (auto line = next_field(rest, '\n')) {
    const auto pid = static_cast<pid_t>(parse_int(*line).value_or(0));
    if (pid > 0 && pid != ::getpid() && ::kill(pid, SIGKILL) == 0) ended.insert(pid);
  }
}

}  // namespace

UniqueFd lock_cgroup(const std::string& directory) {
  auto opened = open_directory(directory);
  if (!opened) return {};
  while (::flock(opened->get(), LOCK_SH) != 0 && errno == EINTR) {
  }
  return std::move(*opened);
}

std::size_t end_orphans(const cgroup::Layout& layout) {
  std::set<pid_t> ended;  // on v1 a process is in a cgroup of each controller
  for (Controller controller : {Controller::memory, Controller::cpu, Controller::pids}) {
    const std::string plugins = layout.directory(controller, kPluginsCgroup);
    if (plugins.empty()) continue;
    for (const std::string& plugin : list_subdirectories(plugins).value_or({})) {
      const std::string directory = plugins + "/" + plugin;
      auto opened = open_directory(directory);
      if (!opened || is_locked(*opened)) continue;
      end_all_in(directory, ended);
      ::rmdir(directory.c_str());  // when it is empty
    }
  }
  return ended.size();
}

}  // namespace koord::child
