// SPDX-License-Identifier: Apache-2.0
#include "test/support/real_cgroup.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/support/child_process.hpp"

namespace koord::test {
namespace {

using cgroup::Controller;
using cgroup::Layout;
using cgroup::Version;

// The core files are on the unified tree; on a hybrid node, container runtimes make cgroups there, too.
constexpr std::array kControllers{Controller::core,   Controller::cpu,    Controller::cpuacct,
                                  Controller::memory, Controller::cpuset, Controller::blkio};

Layout detect() {
  Result<Layout> layout = Layout::detect(NodeRoots());
  if (!layout) throw std::runtime_error(layout.error().message());
  return std::move(layout).value();
}

void write_or_throw(const std::string& path, const std::string& value) {
  if (auto written = write_value(path, value); !written) throw std::runtime_error(written.error().message());
}

// On recent kernels, a reaped process leaves its cgroup a little later; until then rmdir fails with EBUSY.
void remove_when_empty(const std::string& path) {
  eventually([&] { return ::rmdir(path.c_str()) == 0 || errno != EBUSY; }, std::chrono::seconds(5));
}

}  // namespace

std::optional<std::string> RealCgroup::unavailable() {
  if (::geteuid() != 0) return "not root";
  Result<Layout> layout = Layout::detect(NodeRoots());
  if (!layout) return layout.error().message();
  std::string probe = layout->directory(Controller::cpu, "koord-test-probe-" + std::to_string(::getpid()));
  if (::mkdir(probe.c_str(), 0755) != 0) return "cannot make '" + probe + "': " + std::strerror(errno);
  ::rmdir(probe.c_str());
  return std::nullopt;
}

RealCgroup::RealCgroup(std::string_view name)
    : layout_(detect()), dir_("koord-test-" + std::string(name) + "-" + std::to_string(::getpid())) {
  make();
}

RealCgroup::RealCgroup(const RealCgroup& parent, std::string_view name)
    : layout_(parent.layout_), dir_(parent.dir_ + "/" + std::string(name)) {
  parent.delegate();
  make();
}

RealCgroup::~RealCgroup() { remove(); }

// On v2, children have only the controllers that their parent enables for them.
void RealCgroup::delegate() const {
  if (layout_.version(Controller::cpu) != Version::v2) return;
  const std::string path = layout_.directory(Controller::cpu, dir_);
  for (const std::string& controller :
       split(std::string(trim(read_file(path + "/cgroup.controllers").value_or(""))), ' '))
    if (!controller.empty()) write_or_throw(path + "/cgroup.subtree_control", "+" + controller);
}

void RealCgroup::make() {
  for (Controller controller : kControllers) {
    std::string path = layout_.directory(controller, dir_);
    if (path.empty() || std::find(made_.begin(), made_.end(), path) != made_.end()) continue;
    if (::mkdir(path.c_str(), 0755) != 0)
      throw std::runtime_error("cannot make '" + path + "': " + std::strerror(errno));
    made_.push_back(path);
    if (controller != Controller::cpuset || layout_.version(controller) != Version::v1) continue;
    // A v1 cpuset accepts no process until its CPUs and memory nodes are set.
    std::string parent = path.substr(0, path.rfind('/'));
    for (const char* file : {"/cpuset.cpus", "/cpuset.mems"})
      if (auto all = read_file(parent + file)) write_or_throw(path + file, *all);
  }
}

void RealCgroup::add_process(pid_t pid) const {
  for (const std::string& path : made_) write_or_throw(path + "/cgroup.procs", std::to_string(pid));
}

void RealCgroup::add_thread(pid_t tid) const {
  for (Controller controller : {Controller::cpu, Controller::cpuacct}) {
    bool v1 = layout_.version(controller) == Version::v1;
    write_or_throw(path(controller) + (v1 ? "/tasks" : "/cgroup.threads"), std::to_string(tid));
  }
}

void RealCgroup::limit_cpu(double cores) const {
  constexpr int kPeriodUs = 100'000;
  std::string quota = std::to_string(static_cast<int>(cores * kPeriodUs));
  if (layout_.version(Controller::cpu) == Version::v1)
    write_or_throw(path(Controller::cpu) + "/cpu.cfs_quota_us", quota);
  else
    write_or_throw(path(Controller::cpu) + "/cpu.max", quota + " " + std::to_string(kPeriodUs));
}

void RealCgroup::limit_memory(std::uint64_t bytes) const {
  bool v1 = layout_.version(Controller::memory) == Version::v1;
  write_or_throw(path(Controller::memory) + (v1 ? "/memory.limit_in_bytes" : "/memory.max"), std::to_string(bytes));
}

void RealCgroup::end_processes() const {
  eventually([&] {
    bool is_empty = true;
    for (const std::string& directory : made_) {
      const std::string pids = read_file(directory + "/cgroup.procs").value_or("");
      for (const std::string_view pid : split(trim(pids), '\n'))
        if (auto number = parse_uint(pid); number && *number > 0)
          is_empty = ::kill(static_cast<pid_t>(*number), SIGKILL) != 0 && is_empty;
    }
    return is_empty;
  });
}

void RealCgroup::remove() {
  for (const std::string& path : made_) remove_when_empty(path);
  made_.clear();
}

}  // namespace koord::test
