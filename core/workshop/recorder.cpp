// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/recorder.hpp"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "core/base/file.hpp"

namespace koord::workshop {
namespace fs = std::filesystem;
namespace {

// A file that collectors read is smaller; a log or a trace is not for them.
constexpr std::size_t kMaxRecordedFile = 256 << 10;

constexpr const char* kProcFiles[] = {
    "buddyinfo",    "cpuinfo",      "diskstats",       "filesystems", "interrupts",       "loadavg",
    "meminfo",      "mounts",       "net/dev",         "net/netstat", "net/snmp",         "net/sockstat",
    "net/sockstat6", "pagetypeinfo", "partitions",      "pressure/*",  "schedstat",        "slabinfo",
    "softirqs",     "stat",         "sys/kernel/*_max", "sys/kernel/sched_*", "sys/vm/min_free_kbytes",
    "sys/vm/watermark_*", "uptime", "version",         "vmstat",      "zoneinfo",
};
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
// Whose sockets are there tells which container runtime runs; a socket has no content.
constexpr const char* kRuntimes[] = {"containerd", "crio", "docker"};

class TreeReader {
 public:
  Result<Tree> read(const NodeRoots& roots) {
    take_files("proc", roots.proc, kProcFiles);
    take_files("sys", roots.sys, kSysFiles);
    take_files("resctrl", roots.resctrl, kResctrlFiles);
    take_cgroups(roots.cgroup);
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

  // Links and other hierarchies are at the top only; below it there are just cgroups and their files.
  void take_cgroups(const std::string& root) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error), end; !error && at != end; at.increment(error)) {
      const std::string path = at->path().string();
      const std::string name = "cgroup" + path.substr(root.size());
      std::error_code gone;
      if (at->is_symlink(gone))
        tree_[name] = {TreeEntry::Type::link, fs::read_symlink(at->path(), gone).string()};
      else if (at->is_directory(gone))
        tree_[name] = {TreeEntry::Type::directory, {}};
      else
        take_file(name, path);
      if (bytes_ > kMaxFixtureBytes) return;
    }
  }

  void take_file(const std::string& name, const std::string& path) {
    struct stat about;
    if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || (about.st_mode & 0444) == 0) return;
    // Some kernel files wait for an event when they are read without this.
    Result<UniqueFd> fd = open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (!fd) return;
    Result<std::string> content = read_all(fd->get(), path, kMaxRecordedFile);
    if (!content) return;
    bytes_ += content->size();
    tree_[name] = {TreeEntry::Type::file, *std::move(content)};
  }

  Tree tree_;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<Tree> read_tree(const NodeRoots& roots) {
  return TreeReader().read(roots);
}

Result<Fixture> record(const NodeRoots& roots, const Clock& clock, const Recording& recording,
                       const std::function<void(Duration)>& wait) {
  const Time start = clock.now();
  Fixture fixture{recording.node_name, start.time_since_epoch().count(), recording.state, {}};
  Tree before;
  for (std::size_t i = 0; i < recording.frames; ++i) {
    const Time due = start + recording.interval * static_cast<std::int64_t>(i);
    if (i > 0) wait(due - clock.now());
    const Time now = clock.now();
    Tree tree = TRY(read_tree(roots));
    fixture.frames.push_back(difference(i == 0 ? Duration() : now - start, before, tree));
    before = std::move(tree);
  }
  return fixture;
}

}  // namespace koord::workshop
