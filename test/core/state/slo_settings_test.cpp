// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo_settings.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "core/json/reader.hpp"

using namespace koord;
using namespace koord::state;

namespace {
namespace json = boost::json;

std::string data(const std::map<std::string, std::string>& documents) {
  json::object map;
  for (const auto& [key, document] : documents) map[key] = document;
  return json::serialize(map);
}

json::value at(const SloSettings& settings, const char* pointer, const StringMap& labels = {},
               const StringMap& annotations = {}) {
  const json::value spec = *read_json(settings.spec_of(labels, annotations).spec);
  boost::system::error_code missing;
  const json::value* found = spec.find_pointer(pointer, missing);
  return found ? *found : json::value();
}

SloSettings taken(const std::map<std::string, std::string>& documents) {
  SloSettings settings;
  CHECK(settings.take(data(documents)).empty());
  return settings;
}

const std::string kThresholds = R"({
  "clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 60},
  "nodeStrategies": [
    {"name": "gpu", "nodeSelector": {"matchLabels": {"kind": "gpu"}}, "cpuSuppressThresholdPercent": 40},
    {"name": "any", "nodeSelector": {"matchExpressions": [{"key": "kind", "operator": "Exists"}]},
     "enable": false, "cpuSuppressThresholdPercent": 50}]})";

}  // namespace

TEST_CASE("without a ConfigMap each node gets the defaults") {
  SloSettings settings;
  CHECK(settings.take("").empty());
  CHECK(
      settings.spec_of({}, {}).spec ==
      R"({"resourceUsedThresholdWithBE":{"enable":false,"cpuSuppressThresholdPercent":65,"cpuSuppressPolicy":"cpuset",)"
      R"("memoryEvictThresholdPercent":70,"cpuEvictPolicy":"evictByRealLimit"},"resourceQOSStrategy":{},)"
      R"("cpuBurstStrategy":{"policy":"none","cpuBurstPercent":1000,"cfsQuotaBurstPercent":300,)"
      R"("cfsQuotaBurstPeriodSeconds":-1,"sharePoolThresholdPercent":50},"systemStrategy":{"totalNetworkBandwidth":"0"}})");
}

TEST_CASE("the first entry that selects the node lies over the strategy for all") {
  const SloSettings settings = taken({{"resource-threshold-config", kThresholds}});
  const char* threshold = "/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent";
  CHECK(at(settings, threshold) == json::value(60));
  CHECK(at(settings, threshold, {{"kind", "gpu"}}) == json::value(40));
  CHECK(at(settings, "/resourceUsedThresholdWithBE/enable", {{"kind", "gpu"}}) == json::value(true));
  CHECK(at(settings, threshold, {{"kind", "web"}}) == json::value(50));
  CHECK(at(settings, "/resourceUsedThresholdWithBE/enable", {{"kind", "web"}}) == json::value(false));
}

TEST_CASE("mappings merge, lists replace, null keeps what is below") {
  const SloSettings settings = taken({{"resource-qos-config", R"({
    "clusterStrategy": {"beClass": {"cpuQOS": {"enable": true, "groupIdentity": -1}, "memoryQOS": {"enable": true},
                                    "blkioQOS": {"blocks": [{"name": "a", "type": "device"}, {"name": "b", "type": "device"}]}}},
    "nodeStrategies": [{"name": "x", "nodeSelector": {"matchLabels": {"x": "y"}},
      "beClass": {"cpuQOS": {"groupIdentity": 0}, "memoryQOS": null,
                  "blkioQOS": {"blocks": [{"name": "c", "type": "device"}]}}}]})"}});
  const StringMap labels{{"x", "y"}};
  CHECK(at(settings, "/resourceQOSStrategy/beClass/cpuQOS/enable", labels) == json::value(true));
  CHECK(at(settings, "/resourceQOSStrategy/beClass/cpuQOS/groupIdentity", labels) == json::value(0));
  CHECK(at(settings, "/resourceQOSStrategy/beClass/memoryQOS/enable", labels) == json::value(true));
  CHECK(at(settings, "/resourceQOSStrategy/beClass/blkioQOS/blocks", labels).as_array().size() == 1);
  CHECK(at(settings, "/resourceQOSStrategy/beClass/blkioQOS/blocks").as_array().size() == 2);
}

TEST_CASE("an entry's host applications replace those for all nodes") {
  const SloSettings settings = taken({{"host-application-config", R"({
    "applications": [{"name": "nginx"}],
    "nodeConfigs": [{"name": "x", "nodeSelector": {"matchLabels": {"x": "y"}}, "applications": [{"name": "ssh"}, {"name": "ntp"}]}]})"}});
  CHECK(at(settings, "/hostApplications/0/name") == json::value("nginx"));
  CHECK(at(settings, "/hostApplications", {{"x", "y"}}).as_array().size() == 2);
}

TEST_CASE("unknown fields are left out, names have the schema's case") {
  const SloSettings settings = taken({{"cpu-burst-config", R"({"clusterStrategy": {"POLICY": "auto", "new": 1}})"}});
  CHECK(at(settings, "/cpuBurstStrategy/policy") == json::value("auto"));
  CHECK(at(settings, "/cpuBurstStrategy/new").is_null());
  CHECK(at(settings, "/cpuBurstStrategy/POLICY").is_null());
}

TEST_CASE("a document that cannot be read keeps the last good one of its key, others are taken") {
  SloSettings settings = taken({{"resource-threshold-config", kThresholds}});
  const auto problems = settings.take(
      data({{"resource-threshold-config", "{"}, {"cpu-burst-config", R"({"clusterStrategy": {"policy": "auto"}})"}}));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].key == "resource-threshold-config");
  CHECK(problems[0].kept);
  CHECK(at(settings, "/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent") == json::value(60));
  CHECK(at(settings, "/cpuBurstStrategy/policy") == json::value("auto"));
}

TEST_CASE("an invalid value in any entry rejects the document and is named with its place") {
  SloSettings settings;
  const auto problems = settings.take(data({{"resource-threshold-config", R"({
    "clusterStrategy": {"enable": true},
    "nodeStrategies": [{"name": "a", "nodeSelector": {"matchLabels": {"a": "b"}}, "cpuSuppressThresholdPercent": 130}]})"}}));
  REQUIRE(problems.size() == 1);
  CHECK(text_of(problems[0]) ==
        "resource-threshold-config: nodeStrategies[0]: resourceUsedThresholdWithBE.cpuSuppressThresholdPercent: found "
        "130, expected an integer from 0 to 100, keeping the defaults");
  CHECK(at(settings, "/resourceUsedThresholdWithBE/enable") == json::value(false));
}

TEST_CASE("an invalid value for all nodes is named once, however many entries there are") {
  SloSettings settings;
  const auto problems = settings.take(data({{"resource-threshold-config", R"({
    "clusterStrategy": {"cpuSuppressThresholdPercent": -1},
    "nodeStrategies": [{"nodeSelector": {"matchLabels": {"a": "b"}}}, {"nodeSelector": {"matchLabels": {"a": "c"}}}]})"}}));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].text.find(';') == std::string::npos);
}

TEST_CASE("thresholds in the wrong order after merging reject the document") {
  SloSettings settings;
  const auto problems =
      settings.take(data({{"resource-threshold-config", R"({"clusterStrategy": {"memoryEvictLowerPercent": 80}})"}}));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].text.find("less than memoryEvictThresholdPercent") != std::string::npos);
}

TEST_CASE("a selector that cannot be understood rejects the document") {
  for (const char* selector :
       {R"("all")", R"({"matchLabels": {"a": 1}})", R"({"matchExpressions": [{"key": "a", "operator": "Near"}]})",
        R"({"matchExpressions": [{"key": "a", "operator": "In"}]})",
        R"({"matchExpressions": [{"operator": "Exists"}]})", R"({"matchLabels": {"a b": "c"}})",
        R"({"matchLabels": {"a": "b c"}})", R"({"matchLabels": {"a": "\u001b[1m"}})", R"({"matchLabels": {"/a": "b"}})",
        R"({"matchExpressions": [{"key": "a b", "operator": "Exists"}]})",
        R"({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c d"]}]})",
        R"({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": [7]}]})"}) {
    CAPTURE(selector);
    SloSettings settings;
    const auto problems =
        settings.take(data({{"cpu-burst-config", R"({"nodeStrategies": [{"name": "a", "nodeSelector": )" +
                                                     std::string(selector) + "}]}"}}));
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].text.find("nodeStrategies[0].nodeSelector: ") == 0);
  }
}

TEST_CASE("a removed key goes back to the defaults, a removed ConfigMap too") {
  SloSettings settings = taken({{"resource-threshold-config", kThresholds}});
  CHECK(settings.take("{}").empty());
  CHECK(at(settings, "/resourceUsedThresholdWithBE/enable") == json::value(false));
  settings = taken({{"resource-threshold-config", kThresholds}});
  CHECK(settings.take("").empty());
  CHECK(at(settings, "/resourceUsedThresholdWithBE/enable") == json::value(false));
}

TEST_CASE("the node's own bandwidth holds; one that is not a quantity takes systemStrategy away and is named") {
  const SloSettings settings = taken({{"system-config", R"({"clusterStrategy": {"totalNetworkBandwidth": "1G"}})"}});
  const std::string key = "node.koordinator.sh/network-bandwidth";
  CHECK(at(settings, "/systemStrategy/totalNetworkBandwidth") == json::value("1G"));
  CHECK(at(settings, "/systemStrategy/totalNetworkBandwidth", {}, {{key, "10G"}}) == json::value("10G"));
  CHECK(at(settings, "/systemStrategy", {}, {{key, "fast"}}).is_null());
  CHECK(
      settings.spec_of({}, {{key, "fast"}}).problem ==
      "annotation node.koordinator.sh/network-bandwidth: found \"fast\", expected a quantity such as \"10G\"; the node "
      "has no systemStrategy");
}

TEST_CASE("data that is not a mapping changes nothing") {
  SloSettings settings = taken({{"resource-threshold-config", kThresholds}});
  CHECK(settings.take("[]").size() == 1);
  CHECK(at(settings, "/resourceUsedThresholdWithBE/cpuSuppressThresholdPercent") == json::value(60));
}

TEST_CASE("the first of very many reasons are named and the others counted") {
  std::string entries;
  for (int i = 0; i < 1000; ++i)
    entries += (i ? "," : "") + std::string(R"({"nodeSelector": {"matchLabels": {"a": "b"}}, "policy": "often"})");
  SloSettings settings;
  const auto problems = settings.take(data({{"cpu-burst-config", R"({"nodeStrategies": [)" + entries + "]}"}}));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].text.size() < 2000);
  CHECK(problems[0].text.find("and 992 more") != std::string::npos);
}

TEST_CASE("a wrong label of a selector is named with its key and the rule") {
  SloSettings settings;
  const auto problems = settings.take(data(
      {{"cpu-burst-config", R"({"nodeStrategies": [{"nodeSelector": {"matchLabels": {"pool": "gold pool"}}}]})"}}));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].text ==
        "nodeStrategies[0].nodeSelector: matchLabels: pool: found \"gold pool\", expected at most 63 of A-Z, a-z, 0-9, "
        "'-', '_' and '.', a letter or digit at both ends");
}
