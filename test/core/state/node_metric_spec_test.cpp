// SPDX-License-Identifier: Apache-2.0
#include "core/state/node_metric_spec.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::state;
using namespace std::chrono_literals;

namespace {

ReadNodeMetricSpec read(const std::string& policy) {
  return *parse_node_metric_spec(R"({"kind": "NodeMetric", "spec": {"metricCollectPolicy": )" + policy + "}}");
}

}  // namespace

TEST_CASE("without a NodeMetric, or where it says nothing, the defaults hold") {
  for (const char* text :
       {"", "{}", R"({"kind":"NodeMetric","spec":{}})", R"({"spec":{"metricCollectPolicy":null}})"}) {
    CAPTURE(text);
    CHECK(parse_node_metric_spec(text)->spec == NodeMetricSpec());
  }
  CHECK(NodeMetricSpec().aggregate == 300s);
  CHECK(NodeMetricSpec().report == 60s);
  CHECK(NodeMetricSpec().windows == std::vector<Duration>{5min, 10min, 30min});
  CHECK(NodeMetricSpec().memory == MemoryPolicy::without_page_cache);
}

TEST_CASE("the cluster's spec replaces the default, field by field") {
  ReadNodeMetricSpec found = read(R"({"aggregateDurationSeconds": 600, "reportIntervalSeconds": null,
    "nodeAggregatePolicy": {"durations": ["1m0s", "1h30m"]}, "nodeMemoryCollectPolicy": "usageWithPageCache"})");
  CHECK(found.problems.empty());
  CHECK(found.spec.aggregate == 600s);
  CHECK(found.spec.report == 60s);
  CHECK(found.spec.windows == std::vector<Duration>{1min, 90min});
  CHECK(found.spec.memory == MemoryPolicy::with_page_cache);
  CHECK(read(R"({"nodeAggregatePolicy": {"durations": []}})").spec.windows.empty());
}

TEST_CASE("names are found whatever their case") { CHECK(read(R"({"reportintervalseconds": 90})").spec.report == 90s); }

TEST_CASE("a time below its minimum is raised to it and reported") {
  ReadNodeMetricSpec found = read(R"({"aggregateDurationSeconds": 59, "reportIntervalSeconds": -9223372036854775808})");
  CHECK(found.spec.aggregate == 60s);
  CHECK(found.spec.report == 30s);
  REQUIRE(found.problems.size() == 2);
  CHECK(found.problems[0] == "spec.metricCollectPolicy.aggregateDurationSeconds: 59 is less than 60, which holds");
}

TEST_CASE("an invalid value is reported and the default holds") {
  ReadNodeMetricSpec found = read(R"({"aggregateDurationSeconds": "5", "reportIntervalSeconds": 9223372036854775807,
    "nodeAggregatePolicy": {"durations": ["5 min", 7, "0s", "2m"]}, "nodeMemoryCollectPolicy": "all"})");
  CHECK(found.spec.aggregate == 300s);
  CHECK(found.spec.report == 60s);
  CHECK(found.spec.windows == std::vector<Duration>{2min});
  CHECK(found.spec.memory == MemoryPolicy::without_page_cache);
  REQUIRE(found.problems.size() == 6);
  CHECK(found.problems[0] == "spec.metricCollectPolicy.aggregateDurationSeconds: expected an integer, found text");
  CHECK(found.problems[1].ends_with("'9223372036854775807' is out of range"));
  CHECK(found.problems[2].starts_with(
      "spec.metricCollectPolicy.nodeAggregatePolicy.durations[0]: '5 min' is not a duration"));
  CHECK(found.problems[5].ends_with(
      "found 'all', expected usageWithoutPageCache, usageWithHotPageCache or usageWithPageCache"));
}

TEST_CASE("another object is refused") {
  CHECK(parse_node_metric_spec(R"({"kind": "Node"})").error().message() == "kind: expected 'NodeMetric', found 'Node'");
  CHECK_FALSE(parse_node_metric_spec("[]"));
}
