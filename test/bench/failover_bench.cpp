// SPDX-License-Identifier: Apache-2.0
// Failover of koord-manager: the leader gets SIGKILL while agents report through the aggregator. Measures the time
// until the other replica has accepted a report, and until it answers a read. A result includes the time of one curl.
//
//   failover-bench [NODES [ROUNDS]]
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/e2e/manager_cluster.hpp"

using namespace koord;
using namespace koord::test;

namespace {

using Steady = std::chrono::steady_clock;

constexpr double kTargetSeconds = 9;

double seconds_since(Steady::time_point begin) { return std::chrono::duration<double>(Steady::now() - begin).count(); }

[[noreturn]] void give_up(const char* failed) {
  std::fprintf(stderr, "failed: %s\n", failed);
  std::exit(1);
}

// Returns whether both happened within a minute.
bool measure(const ManagerCluster& cluster, Replica& leader, const Replica& other, int round) {
  const std::string node = cluster.nodes().front(), path = kNodeMetricPath + "/" + node;
  const Steady::time_point killed = Steady::now();
  leader.process().signal(SIGKILL);
  const bool taken = eventually(
      [&] { return cluster.ask(other, ManagerCluster::report_of(node, round), path + "/status").status / 100 == 2; });
  const double taken_after = seconds_since(killed);
  const bool served = eventually([&] {
    return cluster.ask(other, {"-H", ManagerCluster::token_of(node)}, path).status == 200;
  });
  const double served_after = seconds_since(killed);
  std::printf("round %d: report taken after %.2f s, read served after %.2f s, target %.0f s: %s\n", round, taken_after,
              served_after, kTargetSeconds, taken && served && served_after <= kTargetSeconds ? "ok" : "MISSED");
  return taken && served;
}

int run(int nodes, int rounds) {
  std::vector<std::string> names;
  for (int i = 0; i < nodes; ++i) names.push_back("node-" + std::to_string(i));
  ManagerCluster cluster(names);
  std::unique_ptr<Replica> leader = cluster.start("replica-0");
  if (!eventually([&] { return leader->leads(); })) return 1;
  cluster.wait_until_available();
  const Reporter reporter(cluster);
  for (int round = 1; round <= rounds; ++round) {
    std::unique_ptr<Replica> other = cluster.start("replica-" + std::to_string(round));
    other->api_port();
    // The leader must know all nodes, so that the load is at its usual level.
    if (!eventually([&] { return ManagerCluster::metric(*leader, "koord_manager_serve_reading") == 1; })) return 1;
    if (!measure(cluster, *leader, *other, round)) return 1;
    leader = std::move(other);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler([](const doctest::AssertData& failed) {
    if (failed.m_failed) give_up(failed.m_expr);
  });
  return run(argc > 1 ? std::atoi(argv[1]) : 20, argc > 2 ? std::atoi(argv[2]) : 5);
}
