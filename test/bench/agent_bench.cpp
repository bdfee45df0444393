// SPDX-License-Identifier: Apache-2.0
// The whole agent with every built advisor that is on by default, at 100, 250 and 1,000 pods of three containers.
// Measures its CPU time compared with a bare loop over the two most expensive files (TOT), its memory, and how both
// grow with the pods. Needs root. Options: --seconds N (per measurement, default 20), --pods N (number of pods).
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/host/process_use.hpp"
#include "test/bench/measure.hpp"
#include "test/bench/pod_tree.hpp"
#include "test/bench/whole_agent.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::test;
using cgroup::Controller;
using koord::bench::kPodTreeOnly;
using koord::bench::resident_mib;

namespace {

std::vector<std::string> every_plugin() {
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(built("plugins")))
    if (std::filesystem::exists(entry.path() / (entry.path().filename().string() + ".so")))
      folders.push_back(entry.path());
  return folders;
}

// Returns the CPU seconds of one pass over cumulative CPU and memory.stat of every cgroup, with kept descriptors.
double bare_loop(const cgroup::Layout& layout, const bench::PodTree& tree) {
  const bool v1 = layout.version(Controller::cpuacct) == cgroup::Version::v1;
  std::vector<int> files;
  for (const std::string& dir : tree.cgroups()) {
    files.push_back(
        ::open((layout.directory(Controller::cpuacct, dir) + (v1 ? "/cpuacct.usage" : "/cpu.stat")).c_str(), O_RDONLY));
    files.push_back(::open((layout.directory(Controller::memory, dir) + "/memory.stat").c_str(), O_RDONLY));
  }
  char buffer[16384];
  std::vector<double> passes;
  for (int pass = 0; pass < 7; ++pass)
    passes.push_back(bench::cpu_seconds_of([&] {
      for (int file : files) (void)!::pread(file, buffer, sizeof buffer, 0);
    }));
  for (int file : files) ::close(file);
  return bench::median(passes);
}

void measure(const cgroup::Layout& layout, int pods, unsigned seconds) {
  bench::PodTree tree(layout, pods);
  const double bare = bare_loop(layout, tree);
  AgentProcess agent(kPodTreeOnly, every_plugin());
  if (!agent.start({"--set", "plugins.cpuBudget=0"})) return;
  const auto series = [&] { return find_metric(agent.metrics(), "koordetector_store_live_series").value_or(0); };
  eventually([&] { return series() > 4.0 * 4 * pods; });
  ::sleep(seconds / 2);
  const double begin = std::chrono::duration<double>(host::use_of_process(agent.process().pid())->cpu).count();
  ::sleep(seconds);
  const double cores =
      (std::chrono::duration<double>(host::use_of_process(agent.process().pid())->cpu).count() - begin) / seconds;
  std::printf(
      "TOT %4d pods x 3: %6.1f millicores, bare loop at 1 Hz %6.1f, ratio %5.2f  target <= 2 and <= 50 at 250\n", pods,
      1000 * cores, 1000 * bare, cores / bare);
  std::printf("    %6.1f MiB resident  target <= 96 at 250; %.0f series, %.1f a cgroup\n",
              resident_mib(agent.process().pid()), series(), series() / static_cast<double>(tree.cgroups().size()));
  std::printf("%s\n", agent.ctl({"plugins"}).output.c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  auto layout = cgroup::Layout::detect(NodeRoots());
  if (auto reason = RealCgroup::unavailable(); reason || !layout) {
    std::fprintf(stderr, "SKIPPED: %s\n", reason.value_or("no cgroup tree").c_str());
    return kSkip;
  }
  unsigned seconds = 20;
  std::vector<int> sizes = {100, 250, 1000};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--pods") == 0) sizes = {std::atoi(argv[i + 1])};
  }
  for (int pods : sizes) measure(*layout, pods, seconds);
  return 0;
}
