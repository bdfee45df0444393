// SPDX-License-Identifier: Apache-2.0
// Memory of the real agent: idle, and with all default advisors at 250 pods × 3 containers. Prints resident and
// anonymous memory beside the minimum: a ring of values and a ring of times for each series. If heaptrack is installed
// (optional), a second run shows which part of the agent allocated the heap. Needs root. Arguments: the seconds to wait
// before measuring (30), and the number of pods (250).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/parse.hpp"
#include "test/bench/pod_tree.hpp"
#include "test/bench/whole_agent.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::test;
using koord::bench::anonymous_mib;
using koord::bench::kPodTreeOnly;
using koord::bench::resident_mib;

namespace {

constexpr const char* kPreload = "/usr/lib/heaptrack/libheaptrack_preload.so";
constexpr const char* kInterpret = "/usr/lib/heaptrack/libexec/heaptrack_interpret";
// The rows that an advisor with the usual period of one second adds in five minutes.
constexpr double kRingRows = 320;

std::vector<std::string> advisors() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(built("plugins"))) {
    const std::string name = entry.path().filename();
    if (name.starts_with("advisor-") && std::filesystem::exists(entry.path() / (name + ".so")))
      found.push_back(entry.path());
  }
  return found;
}

std::vector<std::string> three_advisors() {
  return {built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource"),
          built("plugins/advisor-sched-latency")};
}

void print_footprint(const char* title, AgentProcess& agent, int seconds) {
  if (!agent.start()) std::exit(1);
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const pid_t pid = agent.process().pid();
  const double resident = resident_mib(pid), anonymous = anonymous_mib(pid), series = agent.series_of_plugins();
  const double bare = series * kRingRows * 2 * sizeof(double) / (1 << 20);
  std::printf("%-32s %6.1f MiB resident, %6.1f anonymous, %6.0f series; bare rings of %.0f rows %6.1f MiB\n", title,
              resident, anonymous, series, kRingRows, bare);
  std::fflush(stdout);
}

// Returns the namespace below koord of the innermost frame that has one: "store", "metric", "state"; "plugin" for a
// plugin's own code.
std::string owner_of(std::string_view stack) {
  static constexpr std::string_view kPrefix = "koord::";
  for (auto at = stack.rfind(kPrefix); at != stack.npos; at = at == 0 ? stack.npos : stack.rfind(kPrefix, at - 1)) {
    std::string_view rest = stack.substr(at + kPrefix.size());
    const auto end = rest.find("::");
    if (end != rest.npos && rest.find_first_of("(<; ") > end) return std::string(rest.substr(0, end));
  }
  return "others";
}

void print_heap_by_owner(const std::string& stacks_path) {
  std::map<std::string, double> bytes;
  std::ifstream stacks(stacks_path);
  for (std::string line; std::getline(stacks, line);) {
    const auto space = line.rfind(' ');
    if (space == line.npos) continue;
    const double of_stack = static_cast<double>(parse_uint(line.substr(space + 1)).value_or(0));
    bytes[owner_of(std::string_view(line).substr(0, space))] += of_stack;
  }
  std::vector<std::pair<double, std::string>> largest;
  for (const auto& [owner, of_owner] : bytes) largest.emplace_back(of_owner, owner);
  std::sort(largest.rbegin(), largest.rend());
  std::printf("heap in use, by owner:\n");
  for (std::size_t i = 0; i < std::min<std::size_t>(largest.size(), 16); ++i)
    std::printf("  %-24s %7.2f MiB\n", largest[i].second.c_str(), largest[i].first / (1 << 20));
}

void trace_heap(int seconds) {
  if (!std::filesystem::exists(kPreload) || !std::filesystem::exists(kInterpret)) {
    std::printf("heap by owner: not measured, heaptrack is not installed\n");
    return;
  }
  AgentProcess agent(kPodTreeOnly, advisors());
  const std::string trace = agent.folder() / "trace", stacks = agent.folder() / "stacks";
  agent.run_by({"env", std::string("LD_PRELOAD=") + kPreload, "DUMP_HEAPTRACK_OUTPUT=" + trace});
  if (!agent.start()) std::exit(1);
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  agent.kill();  // kill() frees no memory, so the trace shows the memory in use
  const std::string command = std::string(kInterpret) + " < " + trace + " > " + trace +
                              ".data 2>&1 && heaptrack_print -f " + trace + ".data -F " + stacks +
                              " --flamegraph-cost-type leaked -p 0 -a 0 -T 0 -l 0";
  const Finished printed = run_to_end({"sh", "-c", command}, std::chrono::minutes(5));
  if (printed.exit_status != 0) std::printf("%s\n", printed.output.c_str());
  print_heap_by_owner(stacks);
}

}  // namespace

int main(int argc, char** argv) {
  auto layout = cgroup::Layout::detect(NodeRoots());
  if (auto reason = RealCgroup::unavailable(); reason || !layout) {
    std::fprintf(stderr, "SKIPPED: %s\n", reason.value_or("no cgroup tree").c_str());
    return kSkip;
  }
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 30, pods = argc > 2 ? std::atoi(argv[2]) : 250;
  {
    AgentProcess idle("", three_advisors());
    print_footprint("three advisors, no pods", idle, 5);
  }
  bench::PodTree tree(*layout, pods);
  {
    AgentProcess agent(kPodTreeOnly, advisors());
    print_footprint("all default advisors, with pods", agent, seconds);
  }
  trace_heap(seconds);
  return 0;
}
