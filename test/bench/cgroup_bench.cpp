// SPDX-License-Identifier: Apache-2.0
// One collection cycle of cpu.usage, cpu.stat and memory.stat for pods of three containers, against a bare
// pread loop over the same files, on cgroups of this kernel (needs root).
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "core/cgroup/reader.hpp"
#include "test/bench/measure.hpp"
#include "test/bench/pod_tree.hpp"

using namespace koord;
using namespace koord::bench;
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

std::vector<int> open_bare(const Layout& layout, const PodTree& tree) {
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

std::vector<Opened> open_ours(Reader& reader, const PodTree& tree) {
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
  PodTree tree(layout, pods);
  Reader reader(layout);
  std::vector<int> fds = open_bare(layout, tree);
  std::vector<Opened> files = open_ours(reader, tree);
  std::vector<double> bare, ours;
  std::size_t failed = 0;
  char buffer[16384];
  std::int64_t values[8];
  for (int round = 0; round < kRounds; ++round) {  // interleaved, so that both see the same machine
    bare.push_back(cpu_seconds_of([&] {
      for (int fd : fds) failed += ::pread(fd, buffer, sizeof buffer, 0) <= 0 ? 1 : 0;
    }));
    ours.push_back(cpu_seconds_of([&] {
      for (const Opened& file : files) failed += reader.read(file.handle, {values, file.keys}) ? 0 : 1;
    }));
  }
  for (int fd : fds) ::close(fd);
  print_ratio("read " + std::to_string(files.size()) + " files of " + std::to_string(pods) + " pods", median(ours) * 1e3,
              "bare pread loop", median(bare) * 1e3, "ms", kTarget);
  if (failed > 0) std::printf("  %zu READS FAILED\n", failed);
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
