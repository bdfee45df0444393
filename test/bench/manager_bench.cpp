// SPDX-License-Identifier: Apache-2.0
// koord-manager under load: the real program over TLS with one connection and one token per node, different bodies, two
// watchers and a test API server. This process makes the load; its CPU time is shown separately. After that, a hundred
// nodes send the same bodies at the same rate first to koord-manager, and then as a status of the custom resource to
// the test API server, which is a Python program without etcd.
//   manager-bench [NODES [PODS [WATCHERS [SECONDS [GATES]]]]]
// GATES: feature gates of the manager, such as "BatchResources: false".
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

const std::string kCustomResourcePath = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics";
constexpr auto kPeriod = 5s;
constexpr int kComparedNodes = 100;    // the limit of the test API server
constexpr int kThreads = 2;            // threads that send reports
constexpr int kLists = 101;            // requested one after the other
constexpr int kNodesOfAddress = 1000;  // the manager allows 2,048 connections per address
constexpr double kTargetP99Ms = 20, kTargetMemory = 1.5, kTargetFirstByteMs = 100;

struct Size {
  int nodes = 5000, pods = 30, watchers = 2, seconds = 60;
  std::string gates = "NodeSLO: false, NodeMetric: false";
};

double ms(Steady::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

const char* verdict(bool holds) { return holds ? "ok" : "MISSED"; }

// CPU seconds and anonymous resident bytes of a server. Its file-backed pages are not counted, because they change with
// the first calls.
struct Use {
  explicit Use(pid_t process) {
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat"),
        statm("/proc/" + std::to_string(process) + "/statm");
    std::string text;
    double user = 0, system = 0, total = 0, resident = 0, shared = 0;
    std::getline(stat, text, ')');
    for (int i = 3; i < 14; ++i) stat >> text;
    stat >> user >> system;
    statm >> total >> resident >> shared;
    cpu = (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    bytes = (resident - shared) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  }
  double cpu = 0, bytes = 0;
};

// The receiver of reports.
struct Receiver {
  std::uint16_t port = 0;
  http::TlsOptions tls;
  bool is_api_server = false;  // it stores reports as custom resources
};

// The agents of every kThreads-th node.
class Agents {
 public:
  Agents(const Receiver& receiver, const Size& size, int thread)
      : receiver_(receiver), size_(size), thread_(thread), bodies_(size.nodes, size.pods) {
    for (int node = thread; node < size.nodes; node += kThreads)
      connections_.push_back(std::make_unique<AgentConnection>("127.0.1." + std::to_string(1 + node / kNodesOfAddress),
                                                               receiver.port, receiver.tls));
  }

  // Sends one report of each node, without pauses.
  void fill() {
    for (int i = 0; i < count(); ++i) report(i);
  }
  // Sends one report of each node in each period, at different times.
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

  std::vector<double> times;  // times of reports, in ms
  Steady::duration behind{};  // the largest delay of the generator itself

 private:
  int count() const { return static_cast<int>(connections_.size()); }
  Steady::duration report(int i) {
    const int node = thread_ + i * kThreads;
    const std::string request = receiver_.is_api_server ? patch_request(node) : put_request(node);
    const auto begin = Steady::now();
    const std::string answer = connections_[static_cast<std::size_t>(i)]->ask(request);
    const auto time = Steady::now() - begin;
    if (!answer.starts_with("HTTP/1.1 20")) give_up("a report was refused: " + answer);
    return time;
  }

  std::string put_request(int node) {
    const std::string body = http::gzip(bodies_.body(node)).value();
    return "PUT " + kNodeMetricPath + rest_of_request(node, body.size()) +
           "Content-Type: application/json\r\nContent-Encoding: gzip\r\nPrefer: return=minimal\r\n\r\n" + body;
  }
  // Makes a request as the agent does, but uncompressed, because API servers read no gzip.
  std::string patch_request(int node) {
    std::string body = bodies_.body(node);
    body.replace(body.find("metrics.koordetector.sh"), std::string_view("metrics.koordetector.sh").size(),
                 "slo.koordinator.sh");
    return "PATCH " + kCustomResourcePath + rest_of_request(node, body.size()) +
           "Content-Type: application/merge-patch+json\r\n\r\n" + body;
  }
  static std::string rest_of_request(int node, std::size_t body_bytes) {
    const std::string name = NodeMetricBodies::name(node);
    return "/" + name + "/status HTTP/1.1\r\nHost: server\r\n" + ManagerCluster::token_of(name) +
           "\r\nContent-Length: " + std::to_string(body_bytes) + "\r\n";
  }

  const Receiver receiver_;
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
    connect({port, {.ca_file = cluster.certificates().pem("ca"), .server_name = "koord-manager.koordetector.svc"}});
  }

  void connect(const Receiver& receiver) {
    agents.clear();
    for (int thread = 0; thread < kThreads; ++thread)
      agents.push_back(std::make_unique<Agents>(receiver, size, thread));
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

// Returns the times in ascending order.
std::vector<double> times_of(const Load& load) {
  std::vector<double> times;
  for (const auto& one : load.agents) times.insert(times.end(), one->times.begin(), one->times.end());
  std::sort(times.begin(), times.end());
  return times;
}

double quantile(const std::vector<double>& times, double part) {
  return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
}

void print_reports(const Load& load, double manager_cpu, double generator_cpu) {
  const std::vector<double> times = times_of(load);
  Steady::duration behind{};
  for (const auto& one : load.agents) behind = std::max(behind, one->behind);
  const auto at = [&](double part) { return quantile(times, part); };
  std::printf("  reports: %zu, p50 %.2f ms, p99 %.2f ms, max %.1f ms  target p99 <= %.0f ms  %s\n", times.size(),
              at(0.5), at(0.99), at(1), kTargetP99Ms, verdict(at(0.99) <= kTargetP99Ms));
  std::printf("  CPU: manager %.1f s, %.0f reports per core-second; generator apart %.1f s, at most %.0f ms behind\n",
              manager_cpu, static_cast<double>(times.size()) / manager_cpu, generator_cpu, ms(behind));
}

void print_memory(const Load& load, double idle) {
  const double encoded = load.metric("koord_manager_serve_object_bytes"), now = load.use().bytes;
  std::printf(
      "  anonymous memory %.1f MiB, of these %.1f MiB with the nodes and connections only; encoded %.1f MiB: ratio %.2f  "
      "target <= %.1f  %s\n",
      now / 1048576, idle / 1048576, encoded / 1048576, (now - idle) / encoded, kTargetMemory,
      verdict(now - idle <= kTargetMemory * encoded));
}

void print_list(const Load& load) {
  const auto reader = load.reader();
  (void)reader->ask(load.read_request("/" + NodeMetricBodies::name(0)));  // after this the server knows this user
  std::vector<double> first, whole;
  std::string answer;
  for (int i = 0; i < kLists; ++i) {
    answer.clear();
    const auto begin = Steady::now();
    reader->send(load.read_request(""));
    while (answer.find("\r\n\r\n") == answer.npos || answer.ends_with("\r\n\r\n")) reader->read(answer);
    first.push_back(ms(Steady::now() - begin));
    while (!answer.ends_with("\r\n0\r\n\r\n")) reader->read(answer);
    whole.push_back(ms(Steady::now() - begin));
  }
  for (auto* times : {&first, &whole}) std::sort(times->begin(), times->end());
  const double p99 = quantile(first, 0.99);
  std::printf(
      "  %d lists: first byte p50 %.2f ms, p99 %.2f ms  target p99 <= %.0f ms  %s; all %.1f MiB after p50 %.0f ms, p99 "
      "%.0f ms\n",
      kLists, quantile(first, 0.5), p99, kTargetFirstByteMs, verdict(p99 <= kTargetFirstByteMs),
      static_cast<double>(answer.size()) / 1048576, quantile(whole, 0.5), quantile(whole, 0.99));
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

struct Cost {
  double cpu_ms = 0, p50 = 0, p99 = 0;  // per report
};

Cost cost_of(Load& load, pid_t server) {
  on_each_thread(load.agents, [](Agents& agents) { agents.fill(); });
  const double before = Use(server).cpu;
  const auto begin = Steady::now(), end = begin + std::chrono::seconds(load.size.seconds);
  on_each_thread(load.agents, [&](Agents& agents) { agents.run(begin, end); });
  const std::vector<double> times = times_of(load);
  return {1000 * (Use(server).cpu - before) / static_cast<double>(times.size()), quantile(times, 0.5),
          quantile(times, 0.99)};
}

void compare_with_custom_resources(const Size& like) {
  Size size = like;
  size.nodes = kComparedNodes;
  Load load(size);
  const Cost direct = cost_of(load, load.manager->process().pid());
  for (const std::string& name : names_of(size))
    load.cluster.cluster.put(R"({"kind":"NodeMetric","apiVersion":"slo.koordinator.sh/v1alpha1","metadata":{"name":")" +
                             name + R"("},"spec":{}})");
  load.connect({load.cluster.cluster.api_port(),
                {.ca_file = load.cluster.cluster.service_account() + "/ca.crt", .server_name = "127.0.0.1"},
                true});
  const Cost custom = cost_of(load, load.cluster.cluster.process().pid());
  std::printf(
      "%d nodes x %d pods every %d s, to koord-manager and as custom resources to the API server of the tests:\n",
      size.nodes, size.pods, static_cast<int>(kPeriod.count()));
  const auto line = [](const char* name, double ours, double theirs) {
    std::printf("  %-16s %8.2f ms  custom resource %8.2f ms  ratio %.2f\n", name, ours, theirs, ours / theirs);
  };
  line("CPU of a report", direct.cpu_ms, custom.cpu_ms);
  line("p50", direct.p50, custom.p50);
  line("p99", direct.p99, custom.p99);
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
  compare_with_custom_resources(size);
}
