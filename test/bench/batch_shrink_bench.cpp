// SPDX-License-Identifier: Apache-2.0
// Measures the time from a rise of prod usage to the withdrawal of batch CPU, with a node in fake trees with one prod
// pod, a real agent that reports directly, a real koord-manager, and the Node's status in the test API server. In each
// round the pod uses eight more cores from a random time on. The agent and koord-manager have their defaults, except
// for the time for which koord-manager averages reports before it grants anything.
//   batch-shrink-bench [ROUNDS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/base/parse.hpp"
#include "test/bench/measure.hpp"
#include "test/e2e/manager_cluster.hpp"
#include "test/support/fake_nodes.hpp"
#include "test/support/fake_pods.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

using Steady = std::chrono::steady_clock;

constexpr int kCpus = 128, kRise = 8;  // cores
constexpr int kMostRounds = 9;         // batch has 60 % of the CPUs
constexpr auto kReportPeriod = 5s;     // the default
constexpr auto kWithin = 10s;          // the target
constexpr double kMostOfIt = 0.8;      // share of the rise; a remainder below 2 % of the batch CPU is not withdrawn

[[noreturn]] void give_up(const std::string& failed) {
  std::fprintf(stderr, "the measurement has failed: %s\n", failed.c_str());
  std::exit(1);
}

double seconds(Steady::duration time) { return std::chrono::duration<double>(time).count(); }

// A node with one prod pod. Its counters advance like the counters of a kernel.
class RunningNode {
 public:
  RunningNode() {
    lay_out(tree_, {.sockets = 2, .numa_nodes = 2, .cores = kCpus});
    tree_.write("proc/meminfo", "MemTotal:  268435456 kB\nMemFree:  134217728 kB\nMemAvailable:  201326592 kB\n");
    write();
    thread_ = std::jthread([this](const std::stop_token& stops) {
      for (; !stops.stop_requested(); std::this_thread::sleep_for(50ms)) write();
    });
  }

  // Sets the usage from now on.
  void use(double cores) {
    write();
    const std::lock_guard lock(mutex_);
    cores_ = cores;
  }
  NodeRoots roots() const { return tree_.roots(); }

 private:
  void write() {
    const std::lock_guard lock(mutex_);
    const auto now = Steady::now();
    const double passed = seconds(now - at_);
    at_ = now;
    pod_seconds_ += passed * cores_;
    node_seconds_ += passed * (cores_ + 1);
    const auto ticks = static_cast<std::int64_t>(node_seconds_ * static_cast<double>(::sysconf(_SC_CLK_TCK)));
    tree_.write("proc/stat", "cpu  " + std::to_string(ticks) + " 0 0 0 0 0 0 0 0 0\n");
    lay_out_pods(tree_, PodLayout::v2_systemd,
                 {{"uid-web",
                   cgroup::KubeQos::burstable,
                   {{std::string(64, 'a'),
                     {.cpu_us = static_cast<std::int64_t>(pod_seconds_ * 1e6), .active_anon_pages = 1 << 18}}}}});
  }

  FakeNode tree_;
  std::mutex mutex_;
  Steady::time_point at_ = Steady::now();
  double cores_ = 1, pod_seconds_ = 0, node_seconds_ = 0;
  std::jthread thread_;
};

struct Rig {
  Rig()
      : agent("roots: {proc: \"" + node.roots().proc + "\", sys: \"" + node.roots().sys + "\", cgroup: \"" +
                  node.roots().cgroup + "\"}\ncluster: {kubeconfig: \"" + cluster.cluster.kubeconfig() +
                  "\"}\nstate: {source: kubelet, kubelet: {caFile: \"" + cluster.cluster.kubelet_ca() +
                  "\"}}\nreport: {direct: {enabled: true, caFile: " + cluster.certificates().pem("ca") + "}}\n",
              {built("plugins/advisor-node-resource"), built("plugins/advisor-pod-resource")}) {
    const std::string size = R"({"cpu":")" + std::to_string(kCpus) + R"(","memory":"256Gi"})";
    cluster.cluster.merge("Node", "test-node", R"({"status":{"capacity":)" + size + R"(,"allocatable":)" + size + "}}");
    cluster.cluster.put(
        R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"slo-controller-config","namespace":"koordinator-system"},
      "data":{"colocation-config":"{\"enable\":true,\"metricAggregateDurationSeconds\":30}"}})");
    const std::string pod =
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"uid-web"},
      "spec":{"nodeName":"test-node","priority":9500,"containers":[{"name":"app","image":"i"}]},
      "status":{"phase":"Running","qosClass":"Burstable","containerStatuses":[{"name":"app","containerID":"containerd://)" +
        std::string(64, 'a') + R"(","state":{"running":{"startedAt":"2026-01-01T00:00:01Z"}}}]}})";
    cluster.cluster.put(pod);
    cluster.cluster.set_pods("[" + pod + "]");
    manager = cluster.start("a");
    if (!eventually([&] { return manager->leads(); })) give_up("koord-manager does not lead: " + manager->log());
    if (!agent.start()) give_up("the agent does not start");
    if (!eventually([&] { return batch_cores() > 0; }, 3min)) give_up("no batch CPU: " + manager->log());
  }

  // Returns the batch CPU of the Node's status in the API server; 0 if the status has none.
  double batch_cores() {
    const std::string object = cluster.cluster.get("Node", "test-node").value_or("");
    const std::size_t allocatable = object.find("\"allocatable\"");
    constexpr std::string_view kName = "\"kubernetes.io/batch-cpu\":";
    const std::size_t at = object.find(kName, std::min(allocatable, object.size()));
    if (at == object.npos) return 0;
    const std::size_t digits = object.find_first_of("0123456789", at + kName.size());
    const auto milli =
        parse_uint(std::string_view(object).substr(digits, object.find_first_not_of("0123456789", digits) - digits));
    return milli ? static_cast<double>(*milli) / 1000 : 0;
  }
  // Waits until each report of the last 20 s has had the same usage.
  void settle() {
    double last = 0;
    for (Steady::time_point since = Steady::now(); Steady::now() - since < 20s; std::this_thread::sleep_for(50ms))
      if (const double now = batch_cores(); now != last) {
        last = now;
        since = Steady::now();
      }
  }

  RunningNode node;
  ManagerCluster cluster;
  std::unique_ptr<Replica> manager;
  AgentProcess agent;
};

struct Round {
  double first = 0, most = 0;  // seconds until the first part of the rise, and four fifths of it, were withdrawn
  double within = 0;           // the part that was withdrawn within the target
};

Round measure(Rig& rig, double cores, std::mt19937& random) {
  rig.settle();
  std::this_thread::sleep_for(std::uniform_real_distribution(0.0, 1.0)(random) * kReportPeriod);
  const double before = rig.batch_cores();
  const auto begin = Steady::now();
  rig.node.use(cores);
  Round round;
  for (auto now = begin; round.most == 0; std::this_thread::sleep_for(10ms)) {
    const double part = (before - rig.batch_cores()) / kRise;
    now = Steady::now();
    if (part > 0 && round.first == 0) round.first = seconds(now - begin);
    if (part >= kMostOfIt) round.most = seconds(now - begin);
    if (now - begin <= kWithin) round.within = std::min(part, 1.0);
    if (now - begin > 2min) give_up("batch CPU was not withdrawn: " + rig.manager->log());
  }
  return round;
}

void print(const char* name, std::vector<double> values, const char* unit, const char* target) {
  std::sort(values.begin(), values.end());
  std::printf("%-44s median %6.2f %s, least %6.2f, most %6.2f%s\n", name, bench::median(values), unit, values.front(),
              values.back(), target);
}

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler([](const doctest::AssertData& failed) {
    if (failed.m_failed) give_up(failed.m_expr);
  });
  const int rounds = std::clamp(argc > 1 ? std::atoi(argv[1]) : 8, 1, kMostRounds);
  Rig rig;
  std::mt19937 random{std::random_device{}()};
  std::vector<double> first, most, within;
  for (int round = 0; round < rounds; ++round) {
    const Round measured = measure(rig, 1 + (round + 1) * kRise, random);
    std::printf("round %d: first change after %.2f s, four fifths after %.2f s, %.0f %% within %d s\n", round + 1,
                measured.first, measured.most, 100 * measured.within, static_cast<int>(kWithin.count()));
    std::fflush(stdout);
    first.push_back(measured.first);
    most.push_back(measured.most);
    within.push_back(100 * measured.within);
  }
  print("rise of prod usage to first withdrawal", first, "s", "  target <= 10");
  print("rise to withdrawal of four fifths of it", most, "s", "");
  print("part withdrawn within 10 s", within, "%", "");
  rig.agent.stop();
}
