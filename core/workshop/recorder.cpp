// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/recorder.hpp"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "core/base/file.hpp"
#include "core/cgroup/files.hpp"
#include "core/cgroup/processes.hpp"
#include "core/knob/knob.hpp"
#include "core/state/hub.hpp"

namespace koord::workshop {
namespace fs = std::filesystem;
namespace {

// Collectors read smaller files; larger files are logs or traces, which they do not need.
constexpr std::size_t kMaxRecordedFile = 256 << 10;

constexpr const char* kProcFiles[] = {
    "buddyinfo",
    "cpuinfo",
    "diskstats",
    "filesystems",
    "interrupts",
    "loadavg",
    "meminfo",
    "mounts",
    "net/dev",
    "net/netstat",
    "net/snmp",
    "net/sockstat",
    "net/sockstat6",
    "pagetypeinfo",
    "partitions",
    "pressure/*",
    "schedstat",
    "slabinfo",
    "softirqs",
    "stat",
    "sys/fs/file-nr",
    "sys/kernel/*_max",
    "sys/kernel/sched_*",
    "sys/vm/min_free_kbytes",
    "sys/vm/watermark_*",
    "uptime",
    "version",
    "vmstat",
    "zoneinfo",
};
// Statistics of one process. No file with its arguments, environment or data.
constexpr const char* kProcessFiles[] = {"cgroup", "comm", "io", "schedstat", "stat", "statm", "status"};
// Files of the network namespace of a process.
constexpr const char* kNetworkFiles[] = {"net/dev",       "net/netstat", "net/snmp", "net/snmp6", "net/sockstat",
                                         "net/sockstat6", "net/tcp",     "net/tcp6", "net/udp",   "net/udp6"};
constexpr std::size_t kMostProcesses = 4096;
// Files of cgroups that are in no table of the host. Plugins read them with koord.fs/1.
constexpr std::string_view kCgroupFiles[] = {"cgroup.controllers",    "cgroup.events",          "cgroup.procs",
                                             "cgroup.stat",           "cgroup.subtree_control", "cgroup.type",
                                             "cpuset.cpus.effective", "cpuset.mems.effective",  "io.stat"};
constexpr std::string_view kCgroupPrefixes[] = {"blkio.throttle.io_serv", "memory.idle_page", "memory.kidled"};
constexpr const char* kSysFiles[] = {
    "block/*/dev",
    "block/*/queue/rotational",
    "block/*/size",
    "block/*/stat",
    "class/net/*/statistics/*",
    "devices/system/cpu/cpu*/cache/index*/*",
    "devices/system/cpu/cpu*/online",
    "devices/system/cpu/cpu*/topology/*",
    "devices/system/cpu/offline",
    "devices/system/cpu/online",
    "devices/system/cpu/possible",
    "devices/system/cpu/present",
    "devices/system/cpu/smt/*",
    "bus/node/devices/node*/meminfo",
    "devices/system/node/node*/cpulist",
    "devices/system/node/node*/distance",
    "devices/system/node/node*/hugepages/hugepages-*/*",
    "devices/system/node/node*/meminfo",
    "devices/system/node/node*/numastat",
    "devices/system/node/node*/vmstat",
    "devices/system/node/online",
    "kernel/mm/hugepages/hugepages-*/*",
    "kernel/mm/transparent_hugepage/*",
};
constexpr const char* kResctrlFiles[] = {"*", "info/*", "info/*/*", "mon_data/*/*", "*/schemata", "*/mon_data/*/*"};
// The sockets show which container runtime runs. A socket has no content.
constexpr const char* kRuntimes[] = {"containerd", "crio", "docker"};

// Returns the names of the kernel's files for koord.cgroup/1 and koord.knobs/1, of both cgroup versions, and of
// kCgroupFiles.
std::set<std::string, std::less<>> cgroup_file_names() {
  std::set<std::string, std::less<>> names(std::begin(kCgroupFiles), std::end(kCgroupFiles));
  for (const cgroup::LogicalFile& file : cgroup::logical_files())
    for (const cgroup::FileSpec* version : {&file.v1, &file.v2})
      for (const cgroup::KernelFile& kernel : version->files) names.emplace(kernel.name);
  for (const knob::Knob& knob : knob::all_knobs()) {
    if (knob.place != knob::Place::cgroup && knob.place != knob::Place::root_cgroup) continue;
    for (cgroup::Version version : {cgroup::Version::v1, cgroup::Version::v2})
      for (std::string_view name : knob::files_of(knob, version)) names.emplace(name);
  }
  return names;
}

class TreeReader {
 public:
  explicit TreeReader(const RecordedParts& parts) : parts_(parts) {}

  Result<Tree> read(const NodeRoots& roots) {
    take_files("proc", roots.proc, kProcFiles);
    take_files("sys", roots.sys, kSysFiles);
    take_files("resctrl", roots.resctrl, kResctrlFiles);
    take_cgroups(roots.cgroup);
    take_processes(roots);
    for (const char* runtime : kRuntimes)
      if (std::error_code error; fs::is_directory(roots.run + "/" + runtime, error))
        tree_[std::string("run/") + runtime] = {TreeEntry::Type::directory, {}};
    if (bytes_ > kMaxFixtureBytes)
      return invalid("the node has more than " + std::to_string(kMaxFixtureBytes >> 20) + " MiB in files to record");
    return std::move(tree_);
  }

 private:
  template <std::size_t N>
  void take_files(const std::string& top, const std::string& root, const char* const (&patterns)[N]) {
    for (const char* pattern : patterns) {
      glob_t found{};
      std::unique_ptr<glob_t, void (*)(glob_t*)> held(&found, ::globfree);
      if (::glob((root + "/" + pattern).c_str(), GLOB_NOSORT, nullptr, &found) != 0) continue;
      for (std::size_t i = 0; i < found.gl_pathc; ++i) {
        std::string path = found.gl_pathv[i];
        take_file(top + path.substr(root.size()), path);
      }
    }
  }

  // Records the cgroups. Links and hierarchies are only at the top; below are only cgroups and their files.
  void take_cgroups(const std::string& root) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error), end;
         !error && at != end; at.increment(error)) {
      const std::string path = at->path().string();
      const std::string name = "cgroup" + path.substr(root.size());
      std::error_code gone;
      if (at->is_symlink(gone))
        tree_[name] = {TreeEntry::Type::link, fs::read_symlink(at->path(), gone).string()};
      else if (at->is_directory(gone))
        tree_[name] = {TreeEntry::Type::directory, {}};
      else if (is_recorded(at->path().filename().string()))
        take_file(name, path);
      if (bytes_ > kMaxFixtureBytes) return;
    }
  }

  bool is_recorded(const std::string& cgroup_file) const {
    const bool has_prefix = std::any_of(std::begin(kCgroupPrefixes), std::end(kCgroupPrefixes),
                                        [&](std::string_view prefix) { return cgroup_file.starts_with(prefix); });
    return parts_.all_cgroup_files || has_prefix || cgroup_files_.contains(cgroup_file);
  }

  // Records processes of pods and containers, and the node's first process for the network of the node.
  void take_processes(const NodeRoots& roots) {
    const Result<cgroup::Layout> layout = cgroup::Layout::detect(roots);
    take_files_of_process(roots, 1, kNetworkFiles);
    std::set<std::int32_t> seen;
    for (const std::string& cgroup : parts_.cgroups) {
      const auto pids = layout ? cgroup::processes_below(*layout, cgroup).value_or({}) : std::vector<std::int32_t>();
      if (!pids.empty()) take_files_of_process(roots, pids.front(), kNetworkFiles);
      for (const std::int32_t pid : pids)
        if (seen.size() < kMostProcesses && seen.insert(pid).second) take_files_of_process(roots, pid, kProcessFiles);
    }
  }

  template <std::size_t N>
  void take_files_of_process(const NodeRoots& roots, std::int32_t pid, const char* const (&names)[N]) {
    for (const char* file : names) {
      const std::string name = "/" + std::to_string(pid) + "/" + file;
      take_file("proc" + name, roots.proc + name);
    }
  }

  void take_file(const std::string& name, const std::string& path) {
    struct stat about;
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || (about.st_mode & 0444) == 0) return;
    // Without O_NONBLOCK, reading some kernel files waits for an event.
    Result<UniqueFd> fd = open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (!fd) return;
    Result<std::string> content = read_all(fd->get(), path, kMaxRecordedFile);
    if (!content) return;
    bytes_ += content->size();
    tree_[name] = {TreeEntry::Type::file, *std::move(content)};
  }

  const RecordedParts& parts_;
  const std::set<std::string, std::less<>> cgroup_files_ = cgroup_file_names();
  Tree tree_;
  std::size_t bytes_ = 0;
};

// Returns the cgroups of all pods and containers, as a run on this node would see them.
Result<std::vector<std::string>> workload_cgroups(const NodeRoots& roots, const Recording& recording) {
  state::Hub hub;
  TRY(publish_state(recording.state, roots, recording.node_name, hub));
  const state::SnapshotPtr snapshot = hub.current();
  std::vector<std::string> cgroups;
  const auto add = [&](const std::string& dir) {
    if (!dir.empty()) cgroups.push_back(dir);
  };
  for (const state::Pod& pod : snapshot->pods) {
    add(pod.cgroup_dir);
    for (const state::Container& container : pod.containers) add(container.cgroup_dir);
  }
  for (const state::Container& container : snapshot->standalone) add(container.cgroup_dir);
  return cgroups;
}

}  // namespace

Result<Tree> read_tree(const NodeRoots& roots, const RecordedParts& parts) { return TreeReader(parts).read(roots); }

Result<Fixture> record(const NodeRoots& roots, const Clock& clock, const Recording& recording,
                       const std::function<void(Duration)>& wait) {
  const Time start = clock.now();
  Fixture fixture{recording.node_name, start.time_since_epoch().count(), recording.state, {}};
  Tree before;
  for (std::size_t i = 0; i < recording.frames; ++i) {
    const Time due = start + recording.interval * static_cast<std::int64_t>(i);
    if (i > 0) wait(due - clock.now());
    const Time now = clock.now();
    RecordedParts parts{.cgroups = TRY(workload_cgroups(roots, recording)),
                        .all_cgroup_files = recording.all_cgroup_files};
    Tree tree = TRY(read_tree(roots, parts));
    fixture.frames.push_back(difference(i == 0 ? Duration() : now - start, before, tree));
    before = std::move(tree);
  }
  return fixture;
}

}  // namespace koord::workshop
