// SPDX-License-Identifier: Apache-2.0
#include "core/manager/ignored_settings.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>
#include <string>

using namespace koord::manager;
namespace json = boost::json;

namespace {

IgnoredSettings ignored(const std::string& key, const std::string& document) {
  return IgnoredSettings::of(json::object{{key, document}});
}

std::string only_line(const std::string& key, const std::string& document) {
  const IgnoredSettings found = ignored(key, document);
  REQUIRE(found.lines.size() == 1);
  CHECK(found.unknown == 1);
  CHECK(found.unsupported == 0);
  return found.lines[0];
}

}  // namespace

TEST_CASE("known settings are not reported, in any case of their names") {
  for (
      const auto& row :
      {std::pair{"resource-threshold-config",
                 R"({"clusterStrategy": {"enable": true, "CPUSUPPRESSTHRESHOLDPERCENT": 60}, "nodeStrategies":
                     [{"name": "a", "nodeSelector": {"matchLabels": {"a": "b"}, "matchExpressions": []}, "enable": false}]})"},
       {"resource-qos-config", R"({"clusterStrategy": {"beClass": {"cpuQOS": {"groupIdentity": -1}}}})"},
       {"cpu-burst-config", R"({"clusterStrategy": {"policy": "auto"}})"},
       {"system-config", R"({"clusterStrategy": {"minFreeKbytesFactor": 100}})"},
       {"host-application-config",
        R"({"applications": [{"name": "a"}], "nodeConfigs": [{"name": "n", "nodeSelector": {}, "applications": [{"name": "b"}]}]})"},
       {"colocation-config",
        R"({"enable": true, "cpuReclaimThresholdPercent": 60, "midMemoryThresholdPercent": 10,
            "metricAggregatePolicy": {"durations": ["5m"]}, "nodeConfigs": [{"name": "a", "nodeSelector": {}, "enable": false}]})"},
       {"colocation-config", "{"},
       {"resource-threshold-config", "[]"}}) {
    const std::string key = row.first, document = row.second;
    CAPTURE(key);
    CAPTURE(document);
    CHECK(ignored(key, document).lines.empty());
  }
}

TEST_CASE("an unknown key or field is named with its place and the most similar known one") {
  CHECK(only_line("resource-treshold-config", "{}") ==
        "resource-treshold-config: unknown, ignored, did you mean 'resource-threshold-config'?");
  CHECK(only_line("notes", "anything") == "notes: unknown, ignored");
  CHECK(only_line("resource-threshold-config", R"({"clusterStrategy": {"cpuSupressThresholdPercent": 60}})") ==
        "resource-threshold-config: clusterStrategy.cpuSupressThresholdPercent: unknown, ignored, did you mean "
        "'cpuSuppressThresholdPercent'?");
  CHECK(only_line("resource-threshold-config", R"({"clusterStrategies": {}})") ==
        "resource-threshold-config: clusterStrategies: unknown, ignored, did you mean 'clusterStrategy'?");
  CHECK(only_line("resource-qos-config", R"({"nodeStrategies": [{}, {"beClass": {"cpuQOS": {"xyzzy": 1}}}]})") ==
        "resource-qos-config: nodeStrategies[1].beClass.cpuQOS.xyzzy: unknown, ignored");
  CHECK(only_line("cpu-burst-config", R"({"nodeStrategies": [{"nodeSelector": {"matchLabel": {}}}]})") ==
        "cpu-burst-config: nodeStrategies[0].nodeSelector.matchLabel: unknown, ignored, did you mean 'matchLabels'?");
  CHECK(only_line("host-application-config", R"({"nodeConfigs": [{"applications": [{"nam": "a"}]}]})") ==
        "host-application-config: nodeConfigs[0].applications[0].nam: unknown, ignored, did you mean 'name'?");
  CHECK(only_line("colocation-config", R"({"nodeConfigs": [{"enabled": true}]})") ==
        "colocation-config: nodeConfigs[0].enabled: unknown, ignored, did you mean 'enable'?");
  CHECK(only_line("colocation-config", R"({"metricAggregatePolicy": {"xyzzy": []}})") ==
        "colocation-config: metricAggregatePolicy.xyzzy: unknown, ignored");
}

TEST_CASE("settings that only Koordinator's manager acts on are not called unknown") {
  for (const auto& row : {std::pair{"cpu-normalization-config", "{}"},
                          {"resource-amplification-config", "{}"},
                          {"colocation-config", R"({"midReclaimMode": "static"})"}}) {
    const std::string key = row.first, document = row.second;
    CAPTURE(key);
    const IgnoredSettings found = ignored(key, document);
    CHECK(found.unknown == 0);
    CHECK(found.unsupported == 1);
    REQUIRE(found.lines.size() == 1);
    CHECK(found.lines[0].find("only Koordinator's manager acts on it") != std::string::npos);
  }
}

TEST_CASE("many, long and hostile names are bounded and printable") {
  json::object data;
  for (int i = 0; i < 100; ++i) data["\x1b" + std::string(1000, 'x') + std::to_string(i)] = "{}";
  const IgnoredSettings found = IgnoredSettings::of(data);
  CHECK(found.unknown == 100);
  REQUIRE(found.lines.size() == IgnoredSettings::kMostNamed + 1);
  CHECK(found.lines.back() == "84 more settings without effect");
  for (const std::string& line : found.lines) {
    CHECK(line.size() < 200);
    CHECK(line.find('\x1b') == std::string::npos);
  }
}
