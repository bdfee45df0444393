// SPDX-License-Identifier: Apache-2.0
// The aggregated API in one process without a network: 5,000 nodes with 30 pods each, and 500 with 250, report
// repeatedly with different bodies, and two or ten watchers read each change. The CPU time of making the bodies is
// measured separately. Memory: the growth of the process relative to the bytes of the stored texts.
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/aggregated/api.hpp"
#include "core/aggregated/names.hpp"
#include "core/base/clock.hpp"
#include "core/http/gzip.hpp"
#include "test/bench/measure.hpp"
#include "test/bench/node_metric_bodies.hpp"

using namespace koord;
using namespace koord::aggregated;

namespace {

constexpr double kTargetReports = 1000;  // per second on one core
constexpr double kTargetMemory = 1.5, kTargetFirstByteMs = 100;

double resident_bytes() {
  ::malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  double pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

http::Request list_request(const std::string& query) {
  http::Request request;
  request.path = std::string(kVersionPath) + "/" + std::string(kResource);
  if (!query.empty()) request.query = http::parse_query(query).value();
  return request;
}

std::size_t take_all(http::BodyStream& stream) {
  std::size_t bytes = 0;
  while (true) {
    const auto piece = stream.next([] {});
    if (piece.state != http::BodyStream::State::piece) return bytes;
    bytes += piece.head.size() + (piece.body ? piece.body->size() : 0);
  }
}

struct Cluster {
  SystemClock clock;
  Store store{first_version(clock.wall_ns(), 0)};
  Api api{store, clock};
  std::vector<std::shared_ptr<http::BodyStream>> watchers;
  double generating = 0, serving = 0, watching = 0;
  std::size_t watched_bytes = 0;

  Cluster() { store.begin_serving(); }

  void watch(int count) {
    for (int i = 0; i < count; ++i)
      watchers.push_back(api.answer(list_request("watch=true"), {.user = "watcher"}).stream);
  }
  // Sends one report of each node. Watchers read after every 50 reports.
  void round(bench::NodeMetricBodies& generator) {
    for (int node = 0; node < generator.nodes(); ++node) {
      http::Request request;
      generating += bench::cpu_seconds_of([&] {
        request.method = http::Method::put;
        request.path = std::string(kVersionPath) + "/nodemetrics/" + bench::NodeMetricBodies::name(node) + "/status";
        request.headers = {
            {"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}, {"Prefer", "return=minimal"}};
        request.body = http::gzip(generator.body(node)).value();
      });
      serving += bench::cpu_seconds_of([&] {
        if (api.answer(request, {.user = "system:node:" + bench::NodeMetricBodies::name(node)}).status >= 300)
          std::abort();
      });
      if (node % 50 == 49) follow();
    }
  }
  void follow() {
    watching += bench::cpu_seconds_of([&] {
      for (const auto& watcher : watchers) watched_bytes += take_all(*watcher);
    });
  }
};

void measure(int nodes, int pods, int watchers) {
  bench::NodeMetricBodies generator(nodes, pods);
  const double before = resident_bytes();
  Cluster cluster;
  cluster.watch(watchers);
  constexpr int kRounds = 4;
  for (int i = 0; i < kRounds; ++i) cluster.round(generator);
  const double reports = static_cast<double>(nodes) * kRounds;
  const double per_second = reports / (cluster.serving + cluster.watching);
  std::printf(
      "%d nodes x %d pods, %d watchers: %8.0f reports per core-second (generator apart: %.1f s of %.1f s)  target >= %.0f  %s\n",
      nodes, pods, watchers, per_second, cluster.generating, cluster.generating + cluster.serving + cluster.watching,
      kTargetReports, per_second >= kTargetReports ? "ok" : "MISSED");
  std::printf("  a report %.0f us, its events %.1f us a watcher, %.0f MiB to watchers\n",
              1e6 * cluster.serving / reports, 1e6 * cluster.watching / reports / watchers,
              static_cast<double>(cluster.watched_bytes) / 1048576);
  const double encoded = static_cast<double>(cluster.store.counters().bytes), memory = resident_bytes() - before;
  std::printf("  memory %.1f MiB, encoded %.1f MiB: ratio %.2f  target <= %.1f  %s\n", memory / 1048576,
              encoded / 1048576, memory / encoded, kTargetMemory, memory <= kTargetMemory * encoded ? "ok" : "MISSED");
  const auto begin = std::chrono::steady_clock::now();
  const auto list = cluster.api.answer(list_request(""), {}).stream;
  (void)list->next([] {});
  const std::chrono::duration<double, std::milli> first = std::chrono::steady_clock::now() - begin;
  const double whole = 1000 * bench::cpu_seconds_of([&] { take_all(*list); });
  std::printf("  list: first byte %.2f ms  target <= %.0f ms  %s; whole list %.1f ms of CPU\n", first.count(),
              kTargetFirstByteMs, first.count() <= kTargetFirstByteMs ? "ok" : "MISSED", whole);
  std::fflush(stdout);
}

}  // namespace

int main() {
  measure(5000, 30, 2);
  measure(500, 250, 10);
}
