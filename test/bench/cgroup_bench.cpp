// SPDX-License-Identifier: Apache-2.0
// One collection cycle of cpu.usage, cpu.stat and memory.stat for pods of three containers, against a bare
// pread loop over the same files, on cgroups of this kernel (needs root).
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "core/cgroup/reader.hpp"

using namespace koord;
using namespace koord::cgroup;

namespace {

constexpr double kTarget = 1.3;
constexpr int kRounds = 31;
constexpr std::string_view kUsageKeys[] = {"usage_ns"};
constexpr std::string_view kStatKeys[] = {"nr_periods", "nr_throttled", "throttled_ns"};
constexpr std::string_view kMemoryKeys[] = {"inactive_anon", "active_anon", "unevictable", "inactive_file",
                                            "active_file",   "anon",        "file"};

struct Wanted {
  std::string_view file;
  std::span<const std::string_view> keys;
  Controller controller;
  const char* v1_name;
  const char* v2_name;
};
const Wanted kWanted[] = {{"cpu.usage", kUsageKeys, Controller::cpuacct, "cpuacct.usage", "cpu.stat"},
                          {"cpu.stat", kStatKeys, Controller::cpu, "cpu.stat", "cpu.stat"},
                          {"memory.stat", kMemoryKeys, Controller::memory, "memory.stat", "memory.stat"}};

// Pods × (pod and three containers) in every tree that is read; removed with the object.
class Tree {
 public:
  Tree(const Layout& layout, int pods) : layout_(layout) {
    add(root_);
    for (int pod = 0; pod < pods; ++pod) {
      std::string dir = root_ + "/pod" + std::to_string(pod);
      add(dir);
      for (int container = 0; container < 3; ++container) add(dir + "/c" + std::to_string(container));
    }
  }
  ~Tree() {
    std::error_code ignored;
    for (auto cgroup = cgroups_.rbegin(); cgroup != cgroups_.rend(); ++cgroup)
      for (const std::string& tree : layout_.workload_trees())
        std::filesystem::remove(tree + '/' + *cgroup, ignored);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const std::vector<std::string>& cgroups() const { return cgroups_; }

 private:
  void add(const std::string& cgroup) {
    for (const std::string& tree : layout_.workload_trees()) {
      std::filesystem::create_directory(tree + '/' + cgroup);
      enable_controllers(tree + '/' + cgroup);
    }
    cgroups_.push_back(cgroup);
  }

  static void enable_controllers(const std::string& directory) {
    int fd = ::open((directory + "/cgroup.subtree_control").c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;  // v1
    if (::write(fd, "+cpu +memory", 12) < 0) std::perror("cgroup.subtree_control");
    ::close(fd);
  }

  const Layout& layout_;
  std::string root_ = "koord-test-bench-" + std::to_string(::getpid());
  std::vector<std::string> cgroups_;
};

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Cycle>
double seconds_of(Cycle cycle) {
  double start = cpu_seconds();
  cycle();
  return cpu_seconds() - start;
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

std::vector<int> open_bare(const Layout& layout, const Tree& tree) {
  std::vector<int> fds;
  for (const std::string& cgroup : tree.cgroups()) {
    for (const Wanted& wanted : kWanted) {
      const char* name = layout.version(wanted.controller) == Version::v1 ? wanted.v1_name : wanted.v2_name;
      fds.push_back(
          ::open((layout.directory(wanted.controller, cgroup) + '/' + name).c_str(), O_RDONLY | O_CLOEXEC));
    }
  }
  return fds;
}

struct Opened {
  Handle handle;
  std::size_t keys;
};

std::vector<Opened> open_ours(Reader& reader, const Tree& tree) {
  std::vector<Opened> files;
  for (const std::string& cgroup : tree.cgroups()) {
    for (const Wanted& wanted : kWanted) {
      if (Result<Handle> handle = reader.open(cgroup, wanted.file, wanted.keys))
        files.push_back({*handle, wanted.keys.size()});
      else
        std::fprintf(stderr, "%s\n", handle.error().message().c_str());
    }
  }
  return files;
}

void measure(const Layout& layout, int pods) {
  Tree tree(layout, pods);
  Reader reader(layout);
  std::vector<int> fds = open_bare(layout, tree);
  std::vector<Opened> files = open_ours(reader, tree);
  std::vector<double> bare, ours;
  std::size_t failed = 0;
  char buffer[16384];
  std::int64_t values[8];
  for (int round = 0; round < kRounds; ++round) {  // interleaved, so that both see the same machine
    bare.push_back(seconds_of([&] {
      for (int fd : fds) failed += ::pread(fd, buffer, sizeof buffer, 0) <= 0 ? 1 : 0;
    }));
    ours.push_back(seconds_of([&] {
      for (const Opened& file : files) failed += reader.read(file.handle, {values, file.keys}) ? 0 : 1;
    }));
  }
  for (int fd : fds) ::close(fd);
  double ratio = median(ours) / median(bare);
  std::printf(
      "read cycle, %4d pods %6zu files  ours %8.3f ms  bare pread %8.3f ms  ratio %5.2f  target <= %.1f%s\n",
      pods, files.size(), median(ours) * 1e3, median(bare) * 1e3, ratio, kTarget,
      failed ? "  READS FAILED" : "");
}

}  // namespace

int main() {
  Result<Layout> layout = Layout::detect(NodeRoots());
  if (!layout || ::geteuid() != 0) {
    std::fprintf(stderr, "SKIPPED: needs root and a cgroup tree\n");
    return 77;
  }
  for (int pods : {100, 250}) measure(*layout, pods);
  return 0;
}
