// SPDX-License-Identifier: Apache-2.0
#include "core/manager/cluster_settings.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::manager;

namespace {

kube::KeptObject config_map(const std::string& data) {
  kube::KeptObject object;
  object.name = "slo-controller-config";
  object.uid = "u";
  object.text = R"({"metadata":{"name":"slo-controller-config"},"data":)" + data + "}";
  return object;
}

ClusterSettings taken(const std::string& data) {
  ClusterSettings settings("koordinator-system/slo-controller-config");
  const kube::KeptObject object = config_map(data);
  settings.take(&object);
  return settings;
}

}  // namespace

TEST_CASE("settings are unknown until the ConfigMap was read or is known to be missing") {
  ClusterSettings settings("a/b");
  CHECK_FALSE(settings.is_known());
  settings.take(nullptr);
  CHECK(settings.is_known());
  CHECK_FALSE(settings.has_colocation());
  CHECK(settings.problems().empty());
}

TEST_CASE("an invalid document is an Event about the ConfigMap, with Koordinator's reason") {
  const ClusterSettings settings = taken(R"({"resource-threshold-config": "{", "colocation-config": "[]"})");
  CHECK(settings.rejected() == std::vector<std::string>{"resource-threshold-config", "colocation-config"});
  const auto events = settings.events();
  REQUIRE(events.size() == 2);
  CHECK(events[0].reason == "SLOCfgUnmarshalFailed");
  CHECK(events[1].reason == "ColocationCfgUnmarshalFailed");
  CHECK(events[0].about ==
        kube::ObjectReference{"v1", "ConfigMap", "koordinator-system", "slo-controller-config", "u"});
  CHECK(events[0].warning);
  CHECK(settings.problems()[1].starts_with("ConfigMap koordinator-system/slo-controller-config: colocation-config: "));
}

TEST_CASE("settings for colocation exist once a valid document was there, and until it is removed") {
  ClusterSettings settings = taken(R"({"colocation-config": "{\"enable\":true}"})");
  CHECK(settings.has_colocation());
  const kube::KeptObject broken = config_map(R"({"colocation-config": "{"})");
  settings.take(&broken);
  CHECK(settings.has_colocation());
  CHECK(settings.colocation().of_node({}, {}).settings.enable);
  const kube::KeptObject empty = config_map("{}");
  settings.take(&empty);
  CHECK_FALSE(settings.has_colocation());
}

TEST_CASE("a ConfigMap without data has no settings") {
  CHECK(taken("null").problems().empty());
  CHECK(taken("{}").problems().empty());
  CHECK(taken("7").problems().size() == 1);
}

TEST_CASE("a rejection is logged although another follows at once, and so is a document that is valid again") {
  ClusterSettings settings("a/b");
  const auto changes_with = [&](const std::string& document) {
    const kube::KeptObject object = config_map(R"({"resource-threshold-config": ")" + document + "\"}");
    settings.take(&object);
    std::string lines;
    for (const ClusterSettings::Change& change : settings.changes())
      lines += (change.is_problem ? "WARN " : "INFO ") + change.text + "\n";
    return lines;
  };
  CHECK(changes_with("{}").empty());
  CHECK(changes_with("[]") ==
        "WARN ConfigMap a/b: resource-threshold-config: expected a mapping, found a list, keeping the last good "
        "settings\n");
  CHECK(changes_with("[]").empty());
  const std::string second = changes_with(R"({\"clusterStrategy\":{\"cpuSuppressThresholdPercent\":130}})");
  CHECK(second.starts_with("WARN ConfigMap a/b: resource-threshold-config: "));
  CHECK(second.find("found 130") != std::string::npos);
  CHECK(changes_with("{}") == "INFO ConfigMap a/b: resource-threshold-config is valid again\n");
  changes_with("[]");
  settings.take(nullptr);
  REQUIRE(settings.changes().size() == 1);
  CHECK(settings.changes()[0].text == "ConfigMap a/b: resource-threshold-config is removed, using the defaults");
}

TEST_CASE("settings without effect are problems, and no rejections") {
  const ClusterSettings settings = taken(R"({"resource-treshold-config": "{}", "cpu-normalization-config": "{}"})");
  CHECK(settings.rejected().empty());
  CHECK(settings.events().empty());
  CHECK(settings.ignored().unknown == 1);
  CHECK(settings.ignored().unsupported == 1);
  REQUIRE(settings.problems().size() == 2);
  CHECK(settings.problems()[0] ==
        "ConfigMap koordinator-system/slo-controller-config: resource-treshold-config: unknown, ignored, did you mean "
        "'resource-threshold-config'?");
  CHECK(settings.changes().size() == 2);
}

TEST_CASE("a rejection names its key once") {
  for (const char* data : {R"({"resource-threshold-config": "{"})", R"({"resource-threshold-config": "7"})"}) {
    const std::string line = taken(data).problems()[0];
    CHECK(line.find("resource-threshold-config") == line.rfind("resource-threshold-config"));
    CHECK(line.find("keep") == line.rfind("keep"));
  }
}
