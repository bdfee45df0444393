// SPDX-License-Identifier: Apache-2.0
// One whole collection cycle of advisor-pod-resource with the host's real services: read, compute, registry and metric
// cache. Compared with a bare loop over the same kernel files (CY1), with an open-read-close loop (CY2), and with
// itself at ten times the pods (CY3). A second measurement reads memory.stat each 5 s, as in the agent. Needs root.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "test/bench/measure.hpp"
#include "test/bench/pod_tree.hpp"
#include "test/support/fake_host.hpp"

using namespace koord;
using namespace koord::bench;
using cgroup::Controller;

namespace {

constexpr int kRounds = 21;

// Returns a fake node with the cgroup tree of this machine. Its other trees are empty.
std::unique_ptr<test::FakeNode> node_with_real_cgroups() {
  auto node = std::make_unique<test::FakeNode>();
  node->remove("cgroup");
  node->link("cgroup", "/sys/fs/cgroup");
  return node;
}

std::vector<std::string> kernel_files(const cgroup::Layout& layout, const PodTree& tree) {
  bool v1 = layout.version(Controller::cpuacct) == cgroup::Version::v1;
  std::vector<std::string> files;
  for (std::size_t i = 1; i < tree.cgroups().size(); ++i) {  // 0 is the folder of all pods
    const std::string& dir = tree.cgroups()[i];
    files.push_back(layout.directory(Controller::cpuacct, dir) + (v1 ? "/cpuacct.usage" : "/cpu.stat"));
    files.push_back(layout.directory(Controller::memory, dir) + "/memory.stat");
  }
  return files;
}

int open_file(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }

// Returns the median CPU time of the plugin's cycle in ms. Prints it with the times of the two loops.
double measure(const cgroup::Layout& layout, int pods) {
  PodTree tree(layout, pods);
  auto node = node_with_real_cgroups();
  test::FakeHost host(*node);
  host.hub().publish({.pods = tree.pods()});
  test::FakeInstance advisor(host, koord_entry_v1());
  if (advisor.init() != KOORD_OK) std::printf("init: %s\n", advisor.why().c_str());

  std::vector<std::string> files = kernel_files(layout, tree);
  std::vector<int> fds;
  for (const std::string& file : files) fds.push_back(open_file(file));
  char buffer[16384];
  int failed = 0;
  std::vector<double> ours, bare, reopening, as_configured;
  for (int round = -2; round < kRounds; ++round) {
    host.clock().advance(std::chrono::seconds(1));
    double cycle = cpu_seconds_of([&] { failed += advisor.collect() != KOORD_OK; });
    double loop = cpu_seconds_of([&] {
      for (int fd : fds) failed += ::pread(fd, buffer, sizeof buffer, 0) <= 0;
    });
    double reopen = cpu_seconds_of([&] {
      for (const std::string& file : files) {
        int fd = open_file(file);
        failed += ::read(fd, buffer, sizeof buffer) <= 0;
        ::close(fd);
      }
    });
    host.services().cgroups.set_costly_period(std::chrono::seconds(5));
    host.clock().advance(std::chrono::seconds(1));
    double seldom = cpu_seconds_of([&] { failed += advisor.collect() != KOORD_OK; });
    host.services().cgroups.set_costly_period({});
    if (round < 0) continue;  // the first cycles open files and create series
    as_configured.push_back(seldom * 1e3);
    ours.push_back(cycle * 1e3);
    bare.push_back(loop * 1e3);
    reopening.push_back(reopen * 1e3);
  }
  for (int fd : fds) ::close(fd);
  std::string what = std::to_string(pods) + " pods x 3";
  print_ratio("CY1 cycle, " + what, median(ours), "pread loop", median(bare), "ms", 1.3);
  print_ratio("CY2 cycle, " + what, median(ours), "open-read-close", median(reopening), "ms", 0.55);
  print_ratio("with memory.stat each 5 s, " + what, median(as_configured), "pread loop", median(bare), "ms", 1);
  if (failed > 0) std::printf("%d CALLS FAILED: %s\n", failed, advisor.why().c_str());
  return median(ours);
}

void raise_file_limit() {
  rlimit files;
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

int main() {
  Result<cgroup::Layout> layout = cgroup::Layout::detect(NodeRoots());
  if (!layout || ::geteuid() != 0) {
    std::fprintf(stderr, "SKIPPED: needs root and a cgroup tree\n");
    return 77;
  }
  raise_file_limit();
  double hundred = measure(*layout, 100);
  measure(*layout, 250);
  double thousand = measure(*layout, 1000);
  print_ratio("CY3 cycle of 1000 pods", thousand, "100 pods", hundred, "ms", 12.5);
  return 0;
}
