// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-network/net_namespace.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "plugins/shared/node/value_file.hpp"

namespace koord::network {
namespace {

std::string directory(const std::string& proc_root, pid_t pid) {
  return proc_root + "/" + std::to_string(pid) + "/net";
}

// Maps errors of a process that ends while it is read.
Error gone_or(Error error) {
  if (error.is(std::errc::invalid_argument) || error.is(std::errc::no_such_process))
    error.code = std::make_error_code(std::errc::no_such_file_or_directory);
  return error;
}

std::optional<pid_t> first_number(const std::string& file) {
  const std::string text = node::read_text(file).value_or("");
  std::string_view rest = text;
  while (const auto line = next_field(rest, '\n')) {
    const Result<std::int64_t> pid = parse_int(*line);  // 0: the process is in a different pid namespace
    if (pid && *pid > 0 && *pid <= INT32_MAX) return static_cast<pid_t>(*pid);
  }
  return std::nullopt;
}

std::optional<pid_t> process_below(const std::string& directory, int depth) {
  if (auto pid = first_number(directory + "/cgroup.procs")) return pid;
  if (depth == 0) return std::nullopt;
  for (const std::string& child : list_subdirectories(directory).value_or({})) {
    if (auto pid = process_below(directory + "/" + child, depth - 1)) return pid;
  }
  return std::nullopt;
}

}  // namespace

std::optional<NamespaceId> namespace_of(const std::string& proc_root, pid_t pid) {
  struct stat found {};
  if (::stat((directory(proc_root, pid) + "/dev").c_str(), &found) != 0) return std::nullopt;
  return NamespaceId{found.st_dev, found.st_ino};
}

Result<Namespace> read_namespace(const std::string& proc_root, pid_t pid, Read what) {
  const std::string path = directory(proc_root, pid);
  Result<UniqueFd> dir = open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY);
  if (!dir) return gone_or(std::move(dir).error());
  struct stat found {};
  if (::fstatat(dir->get(), "dev", &found, 0) != 0)
    return gone_or(system_error(errno, "cannot look at '" + path + "/dev'"));
  Result<std::string> dev = read_file_at(dir->get(), "dev");
  if (!dev) return gone_or(std::move(dev).error());
  Namespace space{{found.st_dev, found.st_ino}, parse_dev(*dev), {}};
  // A kernel without IPv4 has neither file.
  if (what == Read::interfaces_and_tcp)
    space.tcp =
        parse_tcp(read_file_at(dir->get(), "snmp").value_or(""), read_file_at(dir->get(), "netstat").value_or(""));
  return space;
}

std::optional<pid_t> process_in(const std::string& cgroup_root, std::string_view cgroup) {
  // The hierarchies on v2, v1 and hybrid nodes. Each hierarchy with a controller has all processes of a pod, so the
  // first one with the pod is used.
  for (const char* hierarchy : {"", "/cpu", "/memory", "/pids", "/cpu,cpuacct", "/unified", "/systemd"}) {
    const std::string directory = cgroup_root + hierarchy + "/" + std::string(cgroup);
    if (node::exists(directory)) return process_below(directory, 4);
  }
  return std::nullopt;
}

bool is_card(const std::string& sys_root, const std::string& interface) {
  return node::exists(sys_root + "/class/net/" + interface + "/device");
}

}  // namespace koord::network
