// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/node_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::hostile {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCgroups = "/sys/fs/cgroup";
constexpr const char* kCorePattern = "/proc/sys/kernel/core_pattern";

std::string proc_file(pid_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(name);
}

std::string content(const std::string& path) { return read_file(path).value_or("(none)"); }

// Returns the roots of the hierarchies: one for cgroup v2, or one for each v1 controller.
std::vector<std::string> hierarchies() {
  if (fs::exists(std::string(kCgroups) + "/cgroup.controllers")) return {kCgroups};
  std::vector<std::string> roots;
  for (const char* controller : {"cpu", "memory", "pids", "unified"})
    if (fs::is_directory(std::string(kCgroups) + "/" + controller))
      roots.push_back(std::string(kCgroups) + "/" + controller);
  return roots;
}

// Returns the cgroups of the process in all hierarchies.
std::vector<std::string> cgroups_of(pid_t pid) {
  std::vector<std::string> directories;
  for (const std::string& line : split(content(proc_file(pid, "cgroup")), '\n')) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controller = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    const bool version_2 = fs::exists(std::string(kCgroups) + "/cgroup.controllers");
    directories.push_back(std::string(kCgroups) +
                          (version_2 ? "" : "/" + (controller.empty() ? "unified" : controller)) + path);
  }
  return directories;
}

void add_limits(NodeState& state, const std::string& directory) {
  for (const char* file : {"cpu.cfs_quota_us", "cpu.shares", "memory.limit_in_bytes", "memory.oom_control", "pids.max",
                           "cpu.max", "cpu.weight", "memory.max", "memory.high"}) {
    if (!fs::exists(directory + "/" + file)) continue;
    const std::string text = content(directory + "/" + file);
    state[directory + "/" + file] = text.substr(0, text.find("under_oom"));
  }
}

std::string line_of(const std::string& text, std::string_view key) {
  const std::size_t at = text.find(std::string(key) + ":");
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

void add_process(NodeState& state, pid_t pid) {
  state["limits of the agent"] = content(proc_file(pid, "limits"));
  state["cgroup of the agent"] = content(proc_file(pid, "cgroup"));
  state["oom_score_adj of the agent"] = content(proc_file(pid, "oom_score_adj"));
  const std::string status = content(proc_file(pid, "status"));
  state["CPUs of the agent"] = line_of(status, "Cpus_allowed_list");
  state["agent stopped"] = status.find("State:\tT") != std::string::npos ? "yes" : "no";
  const std::string stat = content(proc_file(pid, "stat"));
  const std::vector<std::string> fields = split(stat.substr(std::min(stat.size(), stat.rfind(')') + 2)), ' ');
  if (fields.size() > 38) state["priority of the agent"] = fields[16] + " class " + fields[38];
}

// Checks for this build's program, because a test of a different build may run on this machine.
bool runs_our_host(pid_t pid) {
  const char* build = std::getenv("KOORD_BUILD");
  std::error_code gone;
  return build && fs::read_symlink(proc_file(pid, "exe"), gone).string().starts_with(build);
}

bool is_daemon(pid_t pid) {
  if (content(proc_file(pid, "cmdline")).starts_with("koord-hostile-sleep")) return true;
  return content(proc_file(pid, "comm")) == "koord-hostile\n" && runs_our_host(pid);
}

bool is_hostile(pid_t pid) {
  return is_daemon(pid) ||
         (content(proc_file(pid, "cmdline")).find("com.hostile.") != std::string::npos && runs_our_host(pid));
}

bool is_zombie_of_plugin(pid_t pid) {
  return content(proc_file(pid, "comm")).starts_with("koord-plugin") &&
         line_of(content(proc_file(pid, "status")), "State").find('Z') != std::string::npos;
}

std::vector<pid_t> processes_that(bool (*are)(pid_t)) {
  std::vector<pid_t> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const auto pid = static_cast<pid_t>(parse_int(entry.path().filename().string()).value_or(0));
    if (pid > 0 && are(pid)) found.push_back(pid);
  }
  return found;
}

}  // namespace

Canary::Canary() {
  for (const std::string& root : hierarchies()) ::mkdir((root + "/" + name()).c_str(), 0755);
}

Canary::~Canary() {
  for (const std::string& root : hierarchies()) ::rmdir((root + "/" + name()).c_str());
}

NodeState read_node_state(pid_t agent, const std::vector<pid_t>& plugins, const std::vector<std::string>& folders) {
  NodeState state;
  for (const char* path :
       {kCorePattern, "/proc/sys/kernel/modprobe", "/proc/sys/fs/suid_dumpable", "/proc/sys/kernel/hostname"})
    state[path] = content(path);
  add_process(state, agent);
  for (const std::string& root : hierarchies()) add_limits(state, root + "/" + Canary::name());
  for (pid_t plugin : plugins)
    for (const std::string& directory : cgroups_of(plugin)) add_limits(state, directory);
  for (const std::string& folder : folders) {
    std::string list;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
      list += entry.path().filename().string() + "\n";
    state["files in " + folder] = list;
  }
  return state;
}

std::vector<std::string> differences(const NodeState& before, const NodeState& after) {
  std::vector<std::string> found;
  for (const auto& [name, was] : before) {
    const auto is = after.find(name);
    if (is != after.end() && is->second == was) continue;
    if (is == after.end() && name.starts_with(kCgroups)) continue;  // the plugin and its cgroup have ended
    found.push_back(name + ": '" + was + "', then '" + (is == after.end() ? "nothing" : is->second) + "'");
  }
  return found;
}

std::vector<pid_t> hostile_processes() { return processes_that(is_hostile); }

std::vector<pid_t> hostile_daemons() { return processes_that(is_daemon); }

bool has_zombies_of_plugins() { return !processes_that(is_zombie_of_plugin).empty(); }

std::vector<std::string> hostile_cgroups() {
  std::vector<std::string> found;
  for (const std::string& root : hierarchies()) {
    for (const std::string& name : list_subdirectories(root + "/koordetector-plugins").value_or({}))
      if (name.starts_with("com.hostile.")) found.push_back(root + "/koordetector-plugins/" + name);
  }
  return found;
}

void remove_hostile_cgroups() {
  for (const std::string& directory : hostile_cgroups()) ::rmdir(directory.c_str());
}

long status_number(pid_t pid, std::string_view key) {
  const std::string line = line_of(content(proc_file(pid, "status")), key);
  return line.empty() ? 0 : std::strtol(line.c_str() + key.size() + 1, nullptr, 10);
}

double cpu_seconds(pid_t pid) {
  const std::string stat = content(proc_file(pid, "stat"));
  const std::vector<std::string> fields = split(stat.substr(std::min(stat.size(), stat.rfind(')') + 2)), ' ');
  if (fields.size() < 14) return 0;
  return (std::strtod(fields[11].c_str(), nullptr) + std::strtod(fields[12].c_str(), nullptr)) /
         static_cast<double>(::sysconf(_SC_CLK_TCK));
}

long zombies_of(pid_t pid) {
  long zombies = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string stat = read_file(entry.path().string() + "/stat").value_or("");
    const std::size_t end = stat.rfind(')');
    if (end == std::string::npos || stat.compare(end, 4, ") Z ") != 0) continue;
    zombies += std::strtol(stat.c_str() + end + 4, nullptr, 10) == pid;
  }
  return zombies;
}

long descriptors_of(pid_t pid) {
  std::error_code ignored;
  const fs::directory_iterator all(proc_file(pid, "fd"), ignored);
  return std::distance(begin(all), end(all));
}

void start_guard() {
  int ends[2];
  if (::pipe(ends) != 0) return;
  const std::string pattern = content(kCorePattern);
  if (::fork() != 0) {
    ::close(ends[0]);  // the other end stays open while this process runs
    ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return;
  }
  ::setsid();
  ::close(ends[1]);
  char byte;
  while (::read(ends[0], &byte, 1) > 0) {
  }
  if (content(kCorePattern) != pattern) std::ofstream(kCorePattern) << pattern;
  for (pid_t pid : hostile_processes()) ::kill(pid, SIGKILL);
  for (const std::string& root : hierarchies()) ::rmdir((root + "/" + Canary::name()).c_str());
  ::_exit(0);
}

}  // namespace koord::hostile
