// SPDX-License-Identifier: Apache-2.0
// The agent is killed and started again during interference with a service. It uses the saved model of quiet windows.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "test/support/agent_process.hpp"
#include "test/support/cpu_workloads.hpp"

using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* kConfig = R"(state: {source: cgroup, cgroup: {paths: ["koord-test-*/*"]}})";
constexpr int kQuietWindows = 10;
const std::string kSettings =
    "plugins.settings={advisor-interference: {config: {rule: {saveInterval: 1s, quietWindows: " +
    std::to_string(kQuietWindows) + "}}}}";

struct Node {
  Node() {
    set_weight(parent, 10'000);  // preferred to everything else that runs during this test
    set_weight(hog, 400);        // the service gets less than it needs
  }

  bool start() { return agent.start({"--feature-gates=InterferenceCollector=true", "--set", kSettings}); }
  // Returns how many windows of the service this agent has judged.
  double windows() const {
    const Finished query = agent.ctl({"query", "container_held_up_ratio", "--agg", "count", "--window", "10m",
                                      "--label", "container_name=" + service.dir(), "-o", "json"});
    const std::size_t at = query.output.find("\"count\":");
    return at == std::string::npos ? 0 : std::strtod(query.output.c_str() + at + 8, nullptr);
  }
  bool has_windows(double n) const {
    return eventually([&] { return windows() >= n; }, 2min);
  }
  bool is_interfered() const {
    return find_metric(agent.metrics(), "koordetector_container_interference",
                       {"container_name=\"" + service.dir() + '"', "kind=\"interfered\"", "resource=\"cpu\""}) == 1.0;
  }

  RealCgroup parent{"restart"};
  RealCgroup service{parent, "service"}, hog{parent, "hog"};
  AgentProcess agent{kConfig, {built("plugins/advisor-interference")}};
};

}  // namespace

TEST_CASE("an agent that is killed and started during interference has the verdict within 15 s, and keeps it") {
  Node node;
  const auto serving = start_in(node.service, serve);
  REQUIRE(node.start());
  REQUIRE(node.has_windows(2 * kQuietWindows));
  const auto spinning = start_in(node.hog, spin);
  REQUIRE(eventually([&] { return node.is_interfered(); }, 1min));

  const double before = node.windows();
  node.agent.kill();
  REQUIRE(node.start());
  CHECK(eventually([&] { return node.is_interfered(); }, 15s));
  // An agent that learnt these windows as quiet would already have ended the verdict.
  REQUIRE(node.has_windows(before + 3 * kQuietWindows));
  CHECK(node.is_interfered());
}
