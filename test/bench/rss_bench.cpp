// SPDX-License-Identifier: Apache-2.0
// Memory of the real agent with the three advisors (LD2), and how much of it each pod of three containers adds (LD3).
// In MiB of resident memory, against a process that does nothing. Needs root.
#include <unistd.h>

#include <cstdio>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/bench/measure.hpp"
#include "test/bench/pod_tree.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr const char* kPodTreeOnly =
    "state: {source: cgroup, cgroup: {paths: [\"koord-test-bench-*/*\", \"koord-test-bench-*/*/*\"]}}";

double resident_mib(pid_t pid) {
  std::string status = read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
  std::string_view rest = status;
  while (auto line = next_field(rest, '\n')) {
    if (!line->starts_with("VmRSS:")) continue;
    std::string_view words = line->substr(6);
    return static_cast<double>(parse_uint(next_word(words).value_or("0")).value_or(0)) / 1024;
  }
  return 0;
}

std::vector<std::string> advisors() {
  return {built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource"), built("plugins/advisor-sched-latency")};
}

struct Footprint {
  double mib = 0;
  double series = 0;
};

// After a few ticks of everything and a scrape.
Footprint agent_footprint(std::string_view config, std::string_view awaited_metric) {
  AgentProcess agent(config, advisors());
  if (!agent.start()) return {};
  eventually([&] { return agent.metrics().find(awaited_metric) != std::string::npos; });
  eventually([&] { return find_metric(agent.metrics(), "koordetector_sched_latency_slots_used").has_value(); });
  Footprint footprint{resident_mib(agent.process().pid()), 0};
  for (const char* plugin : {"advisor-node-resource", "advisor-pod-resource", "advisor-sched-latency"})
    footprint.series += find_metric(agent.metrics(), "koordetector_plugin_series", {std::string("plugin=\"") + plugin + '"'}).value_or(0);
  return footprint;
}

}  // namespace

int main() {
  auto layout = cgroup::Layout::detect(NodeRoots());
  if (auto reason = RealCgroup::unavailable(); reason || !layout) {
    std::fprintf(stderr, "SKIPPED: %s\n", reason.value_or("no cgroup tree").c_str());
    return kSkip;
  }
  ChildProcess bare([] { ::pause(); });
  double nothing = resident_mib(bare.pid());
  std::printf("bare process %.1f MiB\n", nothing);
  Footprint idle = agent_footprint("", "koordetector_node_memory_usage");
  std::printf("LD2 agent, three advisors, no pods            %6.1f MiB  target <= 8 without eBPF's user part\n", idle.mib);
  for (int pods : {100, 250}) {
    bench::PodTree tree(*layout, pods);
    Footprint loaded = agent_footprint(kPodTreeOnly, "koordetector_container_memory_usage");
    double more_kib = (loaded.mib - idle.mib) * 1024;
    std::printf("LD3 agent, %3d pods x 3                        %6.1f MiB  %5.1f KiB a container, %4.2f KiB a series, target <= 24 at 250\n",
                pods, loaded.mib, more_kib / (pods * bench::kContainersPerPod), more_kib / (loaded.series - idle.series));
    std::fflush(stdout);
  }
  return 0;
}
