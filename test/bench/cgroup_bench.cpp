// SPDX-License-Identifier: Apache-2.0
// One collection cycle of cpu.usage, cpu.stat and memory.stat for pods of three containers, compared with a bare pread
// loop over the same files, on cgroups of this kernel: with one caller, with two callers that read the same, with one
// kept descriptor per directory, and the number of descriptors (CY5). Needs root.
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
      fds.push_back(::open((layout.directory(wanted.controller, cgroup) + '/' + name).c_str(), O_RDONLY | O_CLOEXEC));
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

// Returns how many reads failed.
std::size_t read_all(Reader& reader, const std::vector<Opened>& files) {
  std::size_t failed = 0;
  std::int64_t values[8];
  for (const Opened& file : files) failed += reader.read(file.handle, {values, file.keys}) ? 0 : 1;
  return failed;
}

void print_descriptors(const char* mode, const Reader& reader, const PodTree& tree, double target) {
  const Reader::Use use = reader.use();
  const double cgroups = static_cast<double>(tree.cgroups().size());
  print_ratio(std::string("CY5 descriptors, ") + mode, static_cast<double>(use.kept_files + use.kept_directories),
              "cgroups", cgroups, "  ", target);
}

void measure(const Layout& layout, int pods) {
  PodTree tree(layout, pods);
  SystemClock clock;
  Reader reader(layout, clock);
  Reader by_directory(layout, clock, {.kept_files = 0});
  std::vector<int> fds = open_bare(layout, tree);
  std::vector<Opened> files = open_ours(reader, tree);
  std::vector<Opened> second = open_ours(reader, tree);
  std::vector<Opened> reopened = open_ours(by_directory, tree);
  std::vector<double> bare, ours, more, through_directory;
  std::size_t failed = 0;
  std::uint64_t reads_for_two = 0;
  char buffer[16384];
  for (int round = 0; round < kRounds; ++round) {  // alternating, so all have the same conditions
    bare.push_back(cpu_seconds_of([&] {
      for (int fd : fds) failed += ::pread(fd, buffer, sizeof buffer, 0) <= 0 ? 1 : 0;
    }));
    const std::uint64_t before = reader.use().reads;
    ours.push_back(cpu_seconds_of([&] { failed += read_all(reader, files); }));
    more.push_back(cpu_seconds_of([&] { failed += read_all(reader, second); }));
    reads_for_two += reader.use().reads - before;
    through_directory.push_back(cpu_seconds_of([&] { failed += read_all(by_directory, reopened); }));
  }
  for (int fd : fds) ::close(fd);
  const std::string what = std::to_string(files.size()) + " files of " + std::to_string(pods) + " pods";
  print_ratio("read " + what, median(ours) * 1e3, "bare pread loop", median(bare) * 1e3, "ms", kTarget);
  print_ratio("a second caller that wants the same", median(more) * 1e3, "the first", median(ours) * 1e3, "ms", 0.3);
  print_ratio("kernel reads for both", static_cast<double>(reads_for_two) / kRounds, "files",
              static_cast<double>(reader.use().kernel_files), "  ", 1.05);
  print_ratio("read through kept directories", median(through_directory) * 1e3, "kept files", median(ours) * 1e3, "ms",
              2);
  print_descriptors("files kept", reader, tree, 3);
  print_descriptors("directories kept", by_directory, tree, 3);
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
