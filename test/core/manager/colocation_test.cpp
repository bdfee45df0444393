// SPDX-License-Identifier: Apache-2.0
#include "core/manager/colocation.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::manager;
using namespace std::chrono_literals;

namespace {

Colocation settings_of(const std::string& document, const state::StringMap& labels = {},
                       const state::StringMap& annotations = {}) {
  ColocationSettings settings;
  CHECK(settings.take(document) == "");
  const NodeColocation node = settings.of_node(labels, annotations);
  CHECK(node.problems.empty());
  return node.settings;
}

std::string problem_of(const std::string& document) { return ColocationSettings().take(document); }

}  // namespace

TEST_CASE("without a document Koordinator's defaults hold") {
  const Colocation settings = settings_of("");
  CHECK_FALSE(settings.enable);
  CHECK(settings.cpu.reclaim_percent == 60);
  CHECK(settings.memory.reclaim_percent == 65);
  CHECK(settings.cpu.policy == Policy::usage);
  CHECK(settings.degrade == 15min);
  CHECK(settings.write_period == 300s);
  CHECK(settings.diff_threshold == 0.1);
  CHECK(settings.aggregate == 300s);
  CHECK_FALSE(settings.cpu.batch_percent);
}

TEST_CASE("the first entry that selects the node lies over the cluster's settings") {
  const std::string document = R"({"enable": true, "cpuReclaimThresholdPercent": 70, "nodeConfigs": [
    {"name": "a", "nodeSelector": {"matchLabels": {"pool": "a"}}, "cpuReclaimThresholdPercent": 80},
    {"name": "b", "nodeSelector": {"matchLabels": {"pool": "a"}}, "enable": false}]})";
  CHECK(settings_of(document).cpu.reclaim_percent == 70);
  CHECK(settings_of(document, {{"pool", "a"}}).cpu.reclaim_percent == 80);
  CHECK(settings_of(document, {{"pool", "a"}}).enable);
}

TEST_CASE("the node's annotation lies over its entry, its labels over that") {
  const std::string annotation = "node.koordinator.sh/colocation-strategy";
  const Colocation settings =
      settings_of(R"({"enable": true})", {{"node.koordinator.sh/memory-reclaim-ratio", "0.85"}},
                  {{annotation, R"({"cpuReclaimThresholdPercent": 50, "memoryReclaimThresholdPercent": 50})"}});
  CHECK(settings.cpu.reclaim_percent == 50);
  CHECK(settings.memory.reclaim_percent == 85);
}

TEST_CASE("an invalid annotation or label of a node is named and ignored") {
  ColocationSettings settings;
  const NodeColocation node = settings.of_node({{"node.koordinator.sh/cpu-reclaim-ratio", "-1"},
                                                {"node.koordinator.sh/mid-static-cpu-reserved-ratio", "1000000"}},
                                               {{"node.koordinator.sh/colocation-strategy", R"({"enable": 7})"}});
  CHECK(node.settings == Colocation());
  REQUIRE(node.problems.size() == 3);
  CHECK(node.problems[0].starts_with("annotation node.koordinator.sh/colocation-strategy: "));
  CHECK(node.problems[1] ==
        "label node.koordinator.sh/cpu-reclaim-ratio: found '-1', expected a ratio from 0 to 1, ignoring");
  CHECK(
      node.problems[2] ==
      "label node.koordinator.sh/mid-static-cpu-reserved-ratio: found '1000000', expected a ratio from 0 to 1, ignoring");
}

TEST_CASE("an invalid document is rejected with its place, and the last good one stays") {
  ColocationSettings settings;
  CHECK(settings.take(R"({"cpuReclaimThresholdPercent": 70})") == "");
  CHECK(settings.take(R"({"cpuReclaimThresholdPercent": 170})") ==
        "cpuReclaimThresholdPercent: found 170, expected an integer from 0 to 100");
  CHECK(settings.of_node({}, {}).settings.cpu.reclaim_percent == 70);
  CHECK(problem_of("[]") != "");
  CHECK(problem_of("{") != "");
  CHECK(problem_of(R"({"resourceDiffThreshold": 0})") ==
        "resourceDiffThreshold: found 0, expected a number between 0 and 1");
  CHECK(problem_of(R"({"cpuCalculatePolicy": "request"})") ==
        "cpuCalculatePolicy: found 'request', expected usage or maxUsageRequest");
  CHECK(problem_of(R"({"memoryCalculatePolicy": "request"})") == "");
  CHECK(problem_of(R"({"degradeTimeMinutes": 0})") != "");
  CHECK(problem_of(R"({"nodeConfigs": {}})") != "");
  CHECK(problem_of(R"({"nodeConfigs": [{"midUnallocatedPercent": 101}]})").starts_with("nodeConfigs[0]."));
  CHECK(problem_of(R"({"nodeConfigs": [{"nodeSelector": {"matchLabels": {"a": 1}}}]})")
            .starts_with("nodeConfigs[0].nodeSelector: "));
}

TEST_CASE("each field that counts as known is read") {
  for (const std::string& field : colocation_fields()) {
    CAPTURE(field);
    CHECK(problem_of("{\"" + field + "\": [{}]}").starts_with(field));
  }
}

TEST_CASE("names match whatever their case, null and unknown fields count as missing") {
  CHECK(settings_of(R"({"ENABLE": true, "cpureclaimthresholdpercent": null, "new": 1})").enable);
}

TEST_CASE("a NodeMetric's spec has the node's windows and interval") {
  CHECK(node_metric_spec(settings_of(R"({"metricReportIntervalSeconds": 30})")) ==
        R"({"metricCollectPolicy":{"aggregateDurationSeconds":300,"reportIntervalSeconds":30,)"
        R"("nodeAggregatePolicy":{"durations":["5m0s","10m0s","30m0s"]},)"
        R"("nodeMemoryCollectPolicy":"usageWithoutPageCache"}})");
}

TEST_CASE("a text of an annotation is shown bounded and without control characters") {
  const std::string key = "node.koordinator.sh/colocation-strategy";
  const NodeColocation node = ColocationSettings().of_node(
      {}, {{key, R"({"cpuCalculatePolicy": "\u001b[31m)" + std::string(100'000, 'x') + "\"}"}});
  REQUIRE(node.problems.size() == 1);
  CHECK(node.problems[0].size() < 500);
  CHECK(node.problems[0].find("\\x1b[31mxxx") != std::string::npos);
  CHECK(node.problems[0].find("expected usage or maxUsageRequest") != std::string::npos);
}
