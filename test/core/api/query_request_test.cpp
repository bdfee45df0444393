// SPDX-License-Identifier: Apache-2.0
#include "core/api/query_request.hpp"

#include <doctest/doctest.h>

#include "core/base/manual_clock.hpp"

using namespace koord;
using namespace koord::api;
using namespace std::chrono_literals;

namespace {

Result<QueryRequest> parse(std::vector<http::Query::Parameter> parameters, const Clock& clock) {
  return parse_query_request(http::Query(std::move(parameters)), clock);
}

std::string complaint(std::vector<http::Query::Parameter> parameters) {
  ManualClock clock;
  auto request = parse(std::move(parameters), clock);
  return request ? "" : request.error().message();
}

}  // namespace

TEST_CASE("a query without a span is about the last five minutes") {
  ManualClock clock;
  auto request = parse({{"metric", "node_cpu_usage"}}, clock);
  REQUIRE(request);
  CHECK(request->query.to == clock.now());
  CHECK(request->query.from == clock.now() - 5min);
  CHECK(request->aggregations.size() == 4);
}

TEST_CASE("a query names window, aggregations and labels") {
  ManualClock clock;
  auto request =
      parse({{"metric", "m"}, {"window", "1h"}, {"agg", "p95,last"}, {"label", "a=b=c"}, {"raw", "true"}}, clock);
  REQUIRE(request);
  CHECK(request->query.from == clock.now() - 1h);
  CHECK(request->aggregations == std::vector{store::Aggregation::p95, store::Aggregation::last});
  CHECK(request->query.match == store::Labels{{"a", "b=c"}});
  CHECK(request->raw);
}

TEST_CASE("from and to are wall time, also after the wall clock was set") {
  ManualClock clock;
  clock.step_wall(1h);
  double wall = static_cast<double>(clock.wall_ns() / 1'000'000'000);
  auto request = parse({{"metric", "m"}, {"from", std::to_string(wall - 60)}, {"to", std::to_string(wall)}}, clock);
  REQUIRE(request);
  CHECK(request->query.to == clock.now());
  CHECK(request->query.from == clock.now() - 60s);
}

TEST_CASE("a bad parameter is refused with its name, its value and what is expected") {
  CHECK(complaint({}) == "the parameter metric is missing");
  CHECK(complaint({{"metric", "m"}, {"agg", "p42"}}) ==
        "agg 'p42' is not one of last, avg, min, max, count, p50, p90, p95, p99");
  CHECK(complaint({{"metric", "m"}, {"agg", ""}}) == "agg is empty");
  CHECK(complaint({{"metric", "m"}, {"agg", "p95,last,p95"}}) == "agg has 'p95' twice");
  CHECK(complaint({{"metric", "m"}, {"to", "0"}, {"window", "2562047h"}}) == "window is longer than 87600h");
  CHECK(complaint({{"metric", "m"}, {"window", "5"}}) == "'5' is not a duration such as '250ms' or '1h30m'");
  CHECK(complaint({{"metric", "m"}, {"from", "nan"}}) == "from 'nan' is not a time in Unix seconds");
  CHECK(complaint({{"metric", "m"}, {"label", "=x"}}) == "label '=x' is not key=value");
  CHECK(complaint({{"metric", "m"}, {"raw", "yes"}}) == "raw 'yes' is neither true nor false");
  CHECK(complaint({{"metrics", "m"}}) ==
        "unknown parameter 'metrics', known are metric, agg, window, from, to, label, raw");
  CHECK(complaint({{"metric", "m"}, {"from", "200"}, {"to", "100"}}) == "from is later than to");
}
