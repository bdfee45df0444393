// SPDX-License-Identifier: Apache-2.0
// The last eviction tier: the whole agent kills containers in this kernel's cgroups if memory is very short and their
// pod cannot be ended in any other way. The shortage is in a fake /proc of a small machine.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/fake_nodes.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMiB = 1 << 20;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Uses 8 MiB in a cgroup and ignores SIGTERM.
[[noreturn]] void stay_in(const RealCgroup& cgroup) {
  std::signal(SIGTERM, SIG_IGN);
  cgroup.add_process(::getpid());
  const std::vector<char> memory(8 * kMiB, 'x');
  for (;;) ::pause();
}

std::string pod(const std::string& name, const RealCgroup& cgroup, const RealCgroup& container, int priority) {
  const std::string dir = "koordetector.sh/cgroup-dir";
  return "- metadata: {uid: " + name + ", namespace: batch, name: " + name +
         ", labels: {koordinator.sh/qosClass: BE},\n    annotations: {" + dir + ": " + cgroup.dir() + ", " + dir +
         ".main: " + container.dir() + "}}\n  spec: {priority: " + std::to_string(priority) +
         ", containers: [{name: main}]}\n";
}

// Two best-effort pods that the test makes, on a machine with 64 MiB of which 48 are used. No API server exists.
struct Node {
  RealCgroup low_pod{"evict-low"}, high_pod{"evict-high"}, low_container{low_pod, "main"},
      high_container{high_pod, "main"};
  ChildProcess low{[this] { stay_in(low_container); }}, high{[this] { stay_in(high_container); }};
  TemporaryFolder folder;
  FakeNode tree;
  std::unique_ptr<AgentProcess> agent;

  explicit Node(const std::string& tier) {
    lay_out(tree, {.numa_nodes = 2, .memory_kib = 32 << 10});
    tree.write("proc/meminfo", "MemTotal: 65536 kB\nMemFree: 8192 kB\nMemAvailable: 16384 kB\n");
    tree.write("proc/stat", "cpu  1 0 0 0 0 0 0 0 0 0\n");
    wait_for_memory("10.00");
    REQUIRE(koord::write_file_atomically(folder / "pods.yaml", "kind: PodList\nitems:\n" +
                                                                   pod("low", low_pod, low_container, 5100) +
                                                                   pod("high", high_pod, high_container, 5900)));
    REQUIRE(koord::write_file_atomically(folder / "slo.yaml",
                                         "kind: NodeSLO\nspec: {resourceUsedThresholdWithBE: {enable: true, "
                                         "memoryEvictThresholdPercent: 75, memoryEvictLowerPercent: 70}}\n"));
    agent = std::make_unique<AgentProcess>(
        "  settings: {qos-memory-evict: {mode: enforce, config: {coolDownSeconds: 1}}}\nfeatureGates: {BEMemoryEvict: true}\nevict: {tier: " +
            tier + "}\nexporter: {detail: all}\nroots: {proc: " + tree.path("proc") + ", sys: " + tree.path("sys") +
            "}\nstate: {source: file, file: {pods: " + folder / "pods.yaml" + ", nodeSLO: " + folder / "slo.yaml" +
            "}}\n",
        std::vector<std::string>{built("plugins/qos-memory-evict"), built("plugins/advisor-node-resource"),
                                 built("plugins/advisor-pod-resource")});
  }
  ~Node() {
    agent.reset();
    for (ChildProcess* child : {&low, &high}) {
      child->signal(SIGKILL);
      child->wait(60s);
    }
  }
  // Sets the memory stall of all tasks, in percent of the last ten seconds.
  void wait_for_memory(const std::string& percent) {
    tree.write("proc/pressure/memory", "some avg10=" + percent + " avg60=0.00 avg300=0.00 total=0\nfull avg10=" +
                                           percent + " avg60=0.00 avg300=0.00 total=0\n");
  }
  double counted(const std::string& result) const {
    return find_metric(agent->metrics(), "koordetector_host_evictions_total", {"result=\"" + result + "\""})
        .value_or(0);
  }
  // Waits for some rounds of the strategy.
  void let_it_ask_again() {
    const auto calls = [this] {
      return find_metric(agent->metrics(), "koordetector_plugin_calls_total", {"plugin=\"qos-memory-evict\""})
          .value_or(0);
    };
    const double before = calls();
    CHECK(eventually([&] { return calls() >= before + 5; }, 60s));
  }
};

}  // namespace

TEST_CASE(
    "the tier runtime kills the containers of one pod only if memory is very short and it cannot be ended otherwise") {
  Node node("runtime");
  REQUIRE(node.agent->start());
  REQUIRE_MESSAGE(eventually([&] { return node.counted("refused") == 1; }, 60s), node.agent->log());
  node.let_it_ask_again();
  CHECK(node.low.running());
  node.wait_for_memory("50.00");
  const std::optional<int> status = node.low.wait(60s);
  REQUIRE(status);
  CHECK((WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL));
  CHECK(eventually([&] { return node.counted("killed") == 1; }));
  node.let_it_ask_again();
  CHECK(node.counted("killed") == 1);
  CHECK(node.high.running());
  const std::string why = node.agent->ctl({"why", "batch/low"}).output;
  CHECK_MESSAGE((has(why, "killed") && has(why, "the node uses 0.05 GiB of 0.06 GiB, 75 % or more")), why);
  CHECK(node.agent->stop() == 0);
}

TEST_CASE("in the default tier no pod is killed, even if memory is very short") {
  Node node("api");
  node.wait_for_memory("100.00");
  REQUIRE(node.agent->start());
  REQUIRE(eventually([&] { return node.counted("refused") == 1; }, 60s));
  node.let_it_ask_again();
  CHECK(node.low.running());
  CHECK(node.high.running());
  CHECK(node.counted("killed") == 0);
  CHECK(node.agent->stop() == 0);
}
