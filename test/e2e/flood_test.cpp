// SPDX-License-Identifier: Apache-2.0
// An agent with the memory limit of its DaemonSet on a node with 250 pods. Idle connections and scrapes that are never
// read occupy its metrics listener. KOORD_FLOOD_SECONDS sets the duration (default 30); if it is set, ticks must also
// be on time.
#include <doctest/doctest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "core/base/file.hpp"
#include "core/http/client.hpp"
#include "core/http/socket_address.hpp"
#include "crowded_node.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t kMemory = 128u << 20;
constexpr int kPods = 250;
constexpr std::size_t kConnections = 64;
constexpr std::string_view kScrape = "GET /metrics HTTP/1.1\r\nHost: flood\r\n\r\n";

// Makes the metrics page some megabytes long.
constexpr int kSeries = 18'000;
constexpr std::size_t kLabelBytes = 250;

void write_series(const std::string& file) {
  std::ofstream out(file);
  for (int number = 0; number < kSeries; ++number)
    out << "flood_value{name=\"" << std::string(kLabelBytes, 'x') << number << "\"} " << number << "\n";
}

std::vector<CrowdedPod> many_pods() {
  std::vector<CrowdedPod> pods;
  for (int number = 0; number < kPods; ++number)
    pods.push_back({.name = "web-" + std::to_string(number), .priority = 9500, .used_mib = 16});
  return pods;
}

// Connections to an address from several loopback addresses. A connection that the server ended is opened again.
class Flood {
 public:
  Flood(const std::string& to, const std::vector<std::string>& from, std::string_view says)
      : to_(*http::parse_tcp_address(to)), says_(says), open_(kConnections) {
    for (const std::string& one : from) from_.push_back(*http::parse_tcp_address(one + ":0"));
  }

  void keep_up() {
    for (std::size_t i = 0; i < open_.size(); ++i)
      if (!open_[i] || is_over(open_[i].get())) open(open_[i], from_[i % from_.size()]);
  }

 private:
  // Reads nothing. The small receive buffer makes the answer wait at the server.
  void open(UniqueFd& fd, const http::SocketAddress& from) {
    const int small = 4096;
    fd.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    if (::bind(fd.get(), from.get(), from.length) != 0 || ::connect(fd.get(), to_.get(), to_.length) != 0)
      return fd.reset();
    if (!says_.empty()) (void)::send(fd.get(), says_.data(), says_.size(), MSG_NOSIGNAL);
  }
  // With unread bytes of an answer only a reset is visible; without an answer the end of the connection is visible.
  static bool is_over(int fd) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    char byte;
    return error != 0 || ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  }

  const http::SocketAddress to_;
  std::vector<http::SocketAddress> from_;
  const std::string_view says_;
  std::vector<UniqueFd> open_;
};

// Returns the address from a line of the agent's log, "probes on 127.0.0.1:0, port 1234".
std::string address_of(const std::string& log, const std::string& listener) {
  const std::size_t at = log.find(listener + " on "), port = log.find(", port ", at);
  if (at == std::string::npos || port == std::string::npos) return {};
  return "127.0.0.1:" + log.substr(port + 7, log.find('\n', port) - port - 7);
}

const char* const kFloodSeconds = std::getenv("KOORD_FLOOD_SECONDS");

// Returns the 99th percentile of the difference between one second and the time between two samples of a metric with a
// period of one second.
double tick_delay(const AgentProcess& agent) {
  const std::string rows = agent.get("/api/v1/query?metric=node_cpu_usage&raw=true&window=10m");
  std::vector<double> delays;
  std::optional<double> before;
  // [[time,value],[time,value],…]
  for (std::size_t at = rows.find("[["); at != std::string::npos; at = rows.find(",[", at + 1)) {
    const double time = std::strtod(rows.c_str() + at + 2, nullptr);
    if (before) delays.push_back(std::fabs(time - *before - 1));
    before = time;
  }
  std::sort(delays.begin(), delays.end());
  return delays.empty() ? 1e9 : delays[delays.size() * 99 / 100];
}

// Starts the node's agent with those series and a listener for probes.
void start(CrowdedNode& node, const RealCgroup& cgroup) {
  node.configure("BEMemoryEvict: false, ExternalTextfile: true", "shadow");
  node.agent->run_by({"/bin/sh", "-c",
                      "echo $$ > '" + cgroup.path(cgroup::Controller::memory) + "/cgroup.procs' && exec \"$@\"", "sh"});
  const std::string folder = node.agent->folder() / "textfile";
  std::filesystem::create_directory(folder);
  write_series(folder + "/flood.prom");
  std::string plugins;
  for (const char* id :
       {"advisor-node-resource", "advisor-pod-resource", "external-textfile", "qos-cpu-evict", "qos-memory-evict"})
    plugins += (plugins.empty() ? "" : ", ") + built(std::string("plugins/") + id);
  REQUIRE(node.agent->start({"--set", "listen.probes=127.0.0.1:0", "--set", "plugins.ownDirectories=[" + plugins + "]",
                             "--set", "plugins.settings.external-textfile.config.directory=" + folder}));
}

}  // namespace

TEST_CASE(
    "probes are answered each second, and a scraper has no gap, while 64 silent and 64 unread connections hold the metrics port") {
  RealCgroup cgroup("flood");
  cgroup.limit_memory(kMemory);
  CrowdedNode node(many_pods());
  start(node, cgroup);
  const std::string probes = address_of(node.agent->log(), "probes"), metrics = node.agent->tcp_address();
  REQUIRE_FALSE(probes.empty());
  const auto shows = [&](const char* part) { return node.agent->metrics().find(part) != std::string::npos; };
  REQUIRE(eventually([&] { return shows("pod_name=\"web-249\"") && shows("x17999\""); }, 120s));

  // The addresses fill all places of the listener with unread answers.
  Flood silent(metrics, {"127.0.0.2"}, {}),
      unread(metrics, {"127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"}, kScrape);
  int unanswered = 0, gap = 0, longest_gap = 0;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(kFloodSeconds == nullptr ? 30 : std::atoi(kFloodSeconds));
  for (auto next = std::chrono::steady_clock::now(); next < end; next += 1s) {
    // the period of the kubelet and of the scraper; the test does not wait for anything here
    std::this_thread::sleep_until(next);
    silent.keep_up();
    unread.keep_up();
    const auto health = http::get(probes, "/healthz", 1s);
    unanswered += health && health->status == 200 ? 0 : 1;
    const auto page = http::get(metrics, "/metrics", 2s);
    gap = page && page->status == 200 ? 0 : gap + 1;
    longest_gap = std::max(longest_gap, gap);
  }
  CHECK(unanswered == 0);
  CHECK(longest_gap < 2);
  REQUIRE(node.agent->process().running());
  const std::string page = node.agent->metrics();
  CHECK(page.size() > 5'000'000);
  const double delay = tick_delay(*node.agent);
  if (kFloodSeconds != nullptr) CHECK(delay < 0.1);
  CHECK(find_metric(page, "koordetector_http_displaced_connections_total").value_or(0) > 0);
  MESSAGE("a page of " << page.size() << " bytes, resident "
                       << find_metric(page, "koordetector_host_resident_memory_bytes").value_or(0) / (1 << 20)
                       << " MiB, ticks late by " << delay << " s (p99)");
  CHECK(node.agent->stop() == 0);
}
