// SPDX-License-Identifier: Apache-2.0
// Memory of the real agent with the three advisors (LD2), and the additional memory for each pod of three containers
// (LD3). In MiB of resident memory, compared with an idle process. Needs root. `--steady` waits eleven minutes until
// the rings of 250 pods are full.
#include <unistd.h>

#include <cstdio>

#include "test/bench/measure.hpp"
#include "test/bench/pod_tree.hpp"
#include "test/bench/whole_agent.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::test;
using koord::bench::kPodTreeOnly;
using koord::bench::resident_mib;

namespace {

std::vector<std::string> two_advisors() {
  return {built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource")};
}

std::vector<std::string> three_advisors() {
  std::vector<std::string> advisors = two_advisors();
  advisors.push_back(built("plugins/advisor-sched-latency"));
  return advisors;
}

struct Footprint {
  double mib = 0;
  double series = 0;
};

// Measures after a few ticks of all advisors and a scrape; with `steady`, after the rings have grown to five minutes.
Footprint agent_footprint(std::string_view config, const std::vector<std::string>& advisors, bool steady = false) {
  AgentProcess agent(config, advisors);
  if (!agent.start()) return {};
  std::string_view awaited = config.empty() ? "koordetector_node_memory_usage" : "koordetector_container_memory_usage";
  eventually([&] { return agent.metrics().find(awaited) != std::string::npos; });
  if (advisors.size() == 3)
    eventually([&] { return find_metric(agent.metrics(), "koordetector_sched_latency_slots_used").has_value(); });
  if (steady) ::sleep(330);
  const double mib = resident_mib(agent.process().pid());
  return {mib, agent.series_of_plugins()};
}

void print_loaded(const char* what, int pods, const Footprint& loaded, const Footprint& idle) {
  std::printf("LD3 %-22s %3d pods x 3 %6.1f MiB, %4.1f series a pod, %4.2f KiB each  target <= 24 at 250 with 12\n",
              what, pods, loaded.mib, (loaded.series - idle.series) / pods,
              (loaded.mib - idle.mib) * 1024 / (loaded.series - idle.series));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  auto layout = cgroup::Layout::detect(NodeRoots());
  if (auto reason = RealCgroup::unavailable(); reason || !layout) {
    std::fprintf(stderr, "SKIPPED: %s\n", reason.value_or("no cgroup tree").c_str());
    return kSkip;
  }
  ChildProcess bare([] { ::pause(); });
  double nothing = resident_mib(bare.pid());
  std::printf("bare process %.1f MiB\n", nothing);
  const bool steady = argc > 1 && std::string_view(argv[1]) == "--steady";
  Footprint idle = agent_footprint("", three_advisors()), idle_two = agent_footprint("", two_advisors());
  std::printf("LD2 agent, three advisors, no pods %6.1f MiB  target <= 8 without eBPF's user part\n", idle.mib);
  for (int pods : {100, 250}) {
    bench::PodTree tree(*layout, pods);
    print_loaded("node and pods", pods, agent_footprint(kPodTreeOnly, two_advisors(), steady && pods == 250), idle_two);
    print_loaded("and scheduling latency", pods, agent_footprint(kPodTreeOnly, three_advisors(), steady && pods == 250),
                 idle);
  }
  return 0;
}
