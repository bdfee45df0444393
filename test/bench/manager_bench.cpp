// SPDX-License-Identifier: Apache-2.0
// koord-manager under load: the real program, over TLS, with one connection and one token for each node, bodies that
// differ, two watchers and an API server of the tests. This process makes the load; its CPU time is shown apart.
//   manager-bench [NODES [PODS [WATCHERS [SECONDS [GATES]]]]]
// GATES: those of the manager, such as "BatchResources: false".
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/program.hpp"
#include "core/http/gzip.hpp"
#include "test/bench/agent_connection.hpp"
#include "test/bench/measure.hpp"
#include "test/bench/node_metric_bodies.hpp"
#include "test/e2e/manager_cluster.hpp"

using namespace koord;
using namespace koord::bench;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

using Steady = std::chrono::steady_clock;

constexpr auto kPeriod = 5s;
constexpr int kThreads = 2;            // that send reports
constexpr int kNodesOfAddress = 1000;  // the manager allows 2,048 connections of an address
constexpr double kTargetP99Ms = 20, kTargetMemory = 1.5, kTargetFirstByteMs = 100;

struct Size {
  int nodes = 5000, pods = 30, watchers = 2, seconds = 60;
  std::string gates = "NodeSLO: false, NodeMetric: false";
};

double ms(Steady::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

const char* verdict(bool holds) { return holds ? "ok" : "MISSED"; }

// CPU seconds and resident bytes of the manager.
struct Use {
  explicit Use(pid_t process) {
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat"),
        statm("/proc/" + std::to_string(process) + "/statm");
    std::string text;
    double user = 0, system = 0, total = 0, pages = 0;
    std::getline(stat, text, ')');
    for (int i = 3; i < 14; ++i) stat >> text;
    stat >> user >> system;
    statm >> total >> pages;
    cpu = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    bytes = pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
  }
  double cpu = 0, bytes = 0;
};

// The agents of every kThreads-th node.
class Agents {
 public:
  Agents(const ManagerCluster& cluster, std::uint16_t port, const Size& size, int thread)
      : size_(size), thread_(thread), bodies_(size.nodes, size.pods) {
    const http::TlsOptions tls{.ca_file = cluster.certificates().pem("ca"),
                               .server_name = "koord-manager.koordetector.svc"};
    for (int node = thread; node < size.nodes; node += kThreads)
      connections_.push_back(
          std::make_unique<AgentConnection>("127.0.1." + std::to_string(1 + node / kNodesOfAddress), port, tls));
  }

  // One report of each node, without a pause.
  void fill() {
    for (int i = 0; i < count(); ++i) report(i);
  }
  // A report of each node in each period, each at its own time.
  void run(Steady::time_point begin, Steady::time_point end) {
    times.clear();
    for (auto round = begin; round < end; round += kPeriod)
      for (int i = 0; i < count(); ++i) {
        const auto due = round + kPeriod * i / count();
        std::this_thread::sleep_until(due);
        behind = std::max(behind, Steady::now() - due);
        times.push_back(ms(report(i)));
      }
  }

  std::vector<double> times;  // of reports, in ms
  Steady::duration behind{};  // the generator itself, at most

 private:
  int count() const { return static_cast<int>(connections_.size()); }
  Steady::duration report(int i) {
    const std::string name = NodeMetricBodies::name(thread_ + i * kThreads);
    const std::string body = http::gzip(bodies_.body(thread_ + i * kThreads)).value();
    const std::string request = "PUT " + kNodeMetricPath + "/" + name + "/status HTTP/1.1\r\nHost: manager\r\n" +
                                ManagerCluster::token_of(name) +
                                "\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
                                "Prefer: return=minimal\r\nContent-Length: " +
                                std::to_string(body.size()) + "\r\n\r\n" + body;
    const auto begin = Steady::now();
    const std::string answer = connections_[static_cast<std::size_t>(i)]->ask(request);
    const auto time = Steady::now() - begin;
    if (!answer.starts_with("HTTP/1.1 20")) give_up("a report was refused: " + answer);
    return time;
  }

  const Size size_;
  const int thread_;
  NodeMetricBodies bodies_;
  std::vector<std::unique_ptr<AgentConnection>> connections_;
};

template <class Work>
void on_each_thread(std::vector<std::unique_ptr<Agents>>& agents, const Work& work) {
  std::vector<std::thread> threads;
  threads.reserve(agents.size());
  for (auto& one : agents) threads.emplace_back([&work, &one] { work(*one); });
  for (std::thread& thread : threads) thread.join();
}

std::vector<std::string> names_of(const Size& size) {
  std::vector<std::string> names;
  for (int node = 0; node < size.nodes; ++node) names.push_back(NodeMetricBodies::name(node));
  return names;
}

struct Load {
  explicit Load(const Size& s)
      : size(s),
        cluster(names_of(s)),
        manager(cluster.start("a", false, {}, {"featureGates={" + s.gates + "}", "serve.reviewCache=10m"})) {
    if (!eventually([&] { return manager->leads(); })) give_up("the manager does not lead: " + manager->log());
    port = static_cast<std::uint16_t>(std::stoul(manager->api_port()));
    for (int thread = 0; thread < kThreads; ++thread)
      agents.push_back(std::make_unique<Agents>(cluster, port, size, thread));
  }

  double metric(std::string_view name) const { return cluster.metric(*manager, name).value_or(0); }
  Use use() const { return Use(manager->process().pid()); }
  std::string read_request(const std::string& query) const {
    return "GET " + kNodeMetricPath + query + " HTTP/1.1\r\nHost: manager\r\n" +
           ManagerCluster::token_of(NodeMetricBodies::name(0)) + "\r\n\r\n";
  }
  std::unique_ptr<AgentConnection> reader() const {
    return std::make_unique<AgentConnection>(
        "127.0.2.1", port,
        http::TlsOptions{.ca_file = cluster.certificates().pem("ca"), .server_name = "koord-manager.koordetector.svc"});
  }
  void watch() {
    for (int i = 0; i < size.watchers; ++i)
      watchers.push_back(std::make_unique<ChildProcess>(std::vector<std::string>{
          "curl", "-s", "-N", "-o", "/dev/null", "--cacert", cluster.certificates().pem("ca"), "--connect-to",
          "koord-manager.koordetector.svc:443:127.0.0.1:" + std::to_string(port), "-H",
          ManagerCluster::token_of(NodeMetricBodies::name(0)),
          "https://koord-manager.koordetector.svc" + kNodeMetricPath + "?watch=true"}));
    const auto are_open = [&] { return metric("koord_manager_serve_watches") >= size.watchers; };
    if (!eventually(are_open)) give_up("the watches do not begin");
  }

  const Size size;
  ManagerCluster cluster;
  std::unique_ptr<Replica> manager;
  std::uint16_t port = 0;
  std::vector<std::unique_ptr<Agents>> agents;
  std::vector<std::unique_ptr<ChildProcess>> watchers;
};

void print_reports(const Load& load, double manager_cpu, double generator_cpu) {
  std::vector<double> times;
  Steady::duration behind{};
  for (const auto& one : load.agents) {
    times.insert(times.end(), one->times.begin(), one->times.end());
    behind = std::max(behind, one->behind);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
  };
  std::printf("  reports: %zu, p50 %.2f ms, p99 %.2f ms, max %.1f ms  target p99 <= %.0f ms  %s\n", times.size(),
              at(0.5), at(0.99), at(1), kTargetP99Ms, verdict(at(0.99) <= kTargetP99Ms));
  std::printf("  CPU: manager %.1f s, %.0f reports per core-second; generator apart %.1f s, at most %.0f ms behind\n",
              manager_cpu, static_cast<double>(times.size()) / manager_cpu, generator_cpu, ms(behind));
}

void print_memory(const Load& load, double idle) {
  const double encoded = load.metric("koord_manager_serve_object_bytes"), now = load.use().bytes;
  std::printf("  memory %.1f MiB, of these %.1f MiB with the nodes and connections only; encoded %.1f MiB: ratio %.2f  "
              "target <= %.1f  %s\n",
              now / 1048576, idle / 1048576, encoded / 1048576, (now - idle) / encoded, kTargetMemory,
              verdict(now - idle <= kTargetMemory * encoded));
}

void print_list(const Load& load) {
  const auto reader = load.reader();
  (void)reader->ask(load.read_request("/" + NodeMetricBodies::name(0)));  // its user is known then
  const auto begin = Steady::now();
  reader->send(load.read_request(""));
  std::string answer;
  while (answer.find("\r\n\r\n") == answer.npos || answer.ends_with("\r\n\r\n")) reader->read(answer);
  const double first = ms(Steady::now() - begin);
  while (!answer.ends_with("\r\n0\r\n\r\n")) reader->read(answer);
  std::printf("  list: first byte %.2f ms  target <= %.0f ms  %s; all %.1f MiB after %.0f ms\n", first,
              kTargetFirstByteMs, verdict(first <= kTargetFirstByteMs), static_cast<double>(answer.size()) / 1048576,
              ms(Steady::now() - begin));
}

void measure(const Size& size) {
  Load load(size);
  const double idle = load.use().bytes;
  on_each_thread(load.agents, [](Agents& agents) { agents.fill(); });
  const auto reads = [&] { return load.metric("koord_manager_serve_reading") == 1; };
  if (!eventually(reads)) give_up("the manager serves no reads");
  load.watch();
  const double events = load.metric("koord_manager_serve_events_total");
  const Use before = load.use();
  const double generator = cpu_seconds();
  const auto begin = Steady::now();
  on_each_thread(load.agents, [&](Agents& agents) { agents.run(begin, begin + std::chrono::seconds(size.seconds)); });
  std::printf("%d nodes x %d pods every %d s, %d watchers:\n", size.nodes, size.pods, static_cast<int>(kPeriod.count()),
              size.watchers);
  print_reports(load, load.use().cpu - before.cpu, cpu_seconds() - generator);
  std::printf("  events to watchers: %.0f\n", load.metric("koord_manager_serve_events_total") - events);
  print_memory(load, idle);
  print_list(load);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  doctest::Context context;
  context.setAsDefaultForAssertsOutOfTestCases();
  context.setAssertHandler([](const doctest::AssertData& failed) {
    if (failed.m_failed) give_up(std::string(failed.m_expr) + " at line " + std::to_string(failed.m_line));
  });
  raise_file_limit();
  Size size;
  int* const values[] = {&size.nodes, &size.pods, &size.watchers, &size.seconds};
  for (int i = 1; i < argc && i <= 4; ++i) *values[i - 1] = std::max(1, std::atoi(argv[i]));
  if (argc > 5) size.gates = argv[5];
  measure(size);
}
