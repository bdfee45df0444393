// SPDX-License-Identifier: Apache-2.0
// The limits of /api/v1/query on a node with 250 pods of three containers each.
#include <fstream>
#include <string>
#include <vector>

#include "core/api/query_request.hpp"
#include "test/core/api/api_node.hpp"
#include "test/core/store/temporary_directory.hpp"
#include "test/support/sanitized.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t kPods = 250, kContainers = 3;

struct FullNode {
  FullNode() : api(options_in(directory)) {
    for (std::uint32_t i = 0; i < kPods * kContainers; ++i)
      REQUIRE(api.store->begin_series(
          i, {"container_cpu_usage",
              "cores",
              1e-6,
              {{"pod", "p" + std::to_string(i / kContainers)}, {"container", "c" + std::to_string(i % kContainers)}}}));
  }
  void measure(int seconds) {
    std::vector<store::Sample> row(kPods * kContainers);
    for (int second = 0; second < seconds; ++second) {
      for (std::uint32_t i = 0; i < row.size(); ++i) row[i] = {i, 0.001 * ((second + i) % 1000)};
      REQUIRE(api.store->append(api.clock.now(), row));
      api.clock.advance(1s);
      if (second % 60 == 59) api.store->flush();
    }
  }
  std::string error_of(const std::string& query) {
    const http::Response answer = api.get(api::get_query, "metric=container_cpu_usage&" + query);
    return answer.status == 400 ? answer.body : "status " + std::to_string(answer.status);
  }
  unsigned status_of(const std::string& query) {
    return api.get(api::get_query, "metric=container_cpu_usage&" + query).status;
  }
  static store::Options options_in(const TemporaryDirectory& directory) {
    store::Options options;
    options.path = directory / "metrics.db";
    options.journal_period = 1h;  // the test flushes
    return options;
  }

  TemporaryDirectory directory;
  ApiNode api;
};

// Returns the largest resident set since the last call, in bytes.
std::size_t take_peak() {
  std::size_t kib = 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") status >> kib;
  std::ofstream reset("/proc/self/clear_refs");
  REQUIRE_MESSAGE((reset << 5 << std::flush), "the peak cannot be reset");
  return kib << 10;
}

}  // namespace

TEST_CASE("samples of all containers beyond the bound are an error that says what to ask for") {
  FullNode node;
  node.measure(300);
  CHECK(node.status_of("raw=true&window=2m") == 200);
  CHECK(
      node.error_of("raw=true&window=5m") ==
      "{\"error\":\"the answer has more than 100000 samples, the bound of one request; ask for a shorter window, for fewer "
      "series by label=KEY=VALUE, or without raw\"}\n");
  CHECK(node.status_of("raw=true&window=5m&label=pod=p7") == 200);
  CHECK(node.status_of("window=5m") == 200);
}

TEST_CASE("aggregates of more samples than the bound are an error that says what to ask for") {
  FullNode node;
  const int seconds = 13'400;  // more than ten million samples in 750 series
  node.measure(seconds);
  CHECK(
      node.error_of("window=12h&agg=avg") ==
      "{\"error\":\"the aggregates need more than 10000000 samples, the bound of one request; ask for a shorter window, for "
      "fewer series by label=KEY=VALUE\"}\n");
  CHECK(node.status_of("window=3h&agg=avg,p95") == 200);
  CHECK(node.status_of("window=12h&label=container=c1") == 200);
  take_peak();
  const std::size_t before = take_peak();
  for (const char* query : {"window=12h&agg=p95,p99", "window=12h&raw=true", "from=0&raw=true"}) {
    CAPTURE(query);
    CHECK(node.status_of(query) == 400);
    const std::size_t more = take_peak() - before;
    CAPTURE(more);
    CHECK((kSanitized || more < (48u << 20)));
  }
}

TEST_CASE("more series than the bound are an error that says what to ask for") {
  ApiNode node;
  std::vector<store::Sample> row;
  for (std::uint32_t i = 0; i <= api::kMostSeries; ++i) {
    REQUIRE(node.store->begin_series(i, {"pair_waits", "1", 1, {{"pair", std::to_string(i)}}}));
    row.push_back({i, 1});
  }
  REQUIRE(node.store->append(node.clock.now(), row));
  for (const char* query : {"metric=pair_waits", "metric=pair_waits&raw=true"}) {
    const http::Response answer = node.get(api::get_query, query);
    CHECK(answer.status == 400);
    CHECK(answer.body ==
          "{\"error\":\"the answer has more than 10000 series, the bound of one request; ask for fewer series by "
          "label=KEY=VALUE\"}\n");
  }
  CHECK(node.get(api::get_query, "metric=pair_waits&label=pair=7").status == 200);
}
