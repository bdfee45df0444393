// SPDX-License-Identifier: Apache-2.0
#include "core/agentd/detection_rule_watch.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <span>

#include "test/core/agentd/cluster_services.hpp"

using namespace koord;
using namespace koord::agentd;
using namespace koord::test;
using service::CapabilityState;

namespace {

host::PluginState judge_state = host::PluginState::running;

std::vector<host::PluginStatus> judge() {
  host::PluginStatus status;
  status.id = "advisor-interference";
  status.state = judge_state;
  return {status};
}

struct Rules : ClusterServices {
  Rules() : ClusterServices(judge) { judge_state = host::PluginState::running; }
  ~Rules() {
    watch.reset();
    cluster.clear_faults();
    for (const char* name : {"strict", "online"})
      if (cluster.get("InterferenceDetectionRule", name)) cluster.remove("InterferenceDetectionRule", name);
  }

  void put(const std::string& name, const std::string& spec) {
    cluster.put(R"({"apiVersion": "interference.koordinator.sh/v1alpha1", "kind": "InterferenceDetectionRule", )"
                R"("metadata": {"name": ")" +
                name + R"("}, "spec": )" + spec + "}");
  }
  void start(bool has_cluster = true) {
    watch.emplace(services);
    watch->start(has_cluster);
  }
  // Stores a rule as an earlier agent would.
  void keep_old() {
    const std::string text = analysis::write_rule_layers({{"old", {{"overQuiet", 3}}, 0}});
    REQUIRE(store->put(analysis::kRuleLayersKey, std::as_bytes(std::span(text))));
  }
  std::vector<analysis::RuleLayer> kept() const {
    const auto bytes = store->get(analysis::kRuleLayersKey);
    if (!bytes) return {};
    return analysis::read_rule_layers({reinterpret_cast<const char*>(bytes->data()), bytes->size()}).layers;
  }
  // Returns the names of the rules, each with its first value: "strict 4 online 5".
  std::string rules() const {
    std::string text;
    for (const analysis::RuleLayer& layer : kept())
      text += (text.empty() ? "" : " ") + layer.source + " " + std::to_string(static_cast<int>(layer.values[0].second));
    return text;
  }
  service::Capability capability() const {
    return capabilities.find("interferencedetectionrule").value_or(service::Capability());
  }
  void label(const char* pool) {
    state::Node labelled;
    labelled.labels["pool"] = pool;
    hub.publish({.node = labelled});
  }

  std::optional<DetectionRuleWatch> watch;
};

}  // namespace

TEST_CASE_FIXTURE(Rules, "rules for this node are passed on, follow its labels, and end with their objects") {
  put("strict", R"({"rule": {"overQuiet": 4}})");
  put("online", R"({"priority": 1, "nodeSelector": {"matchLabels": {"pool": "online"}}, "rule": {"overQuiet": 5}})");
  start();
  REQUIRE(until([&] { return rules() == "strict 4"; }));
  CHECK(until([&] { return capability().state == CapabilityState::supported; }));
  CHECK(capability().detail == "current: 2 objects");
  label("online");
  CHECK(until([&] { return rules() == "strict 4 online 5"; }));
  put("strict", R"({"rule": {"overQuiet": 6}})");
  CHECK(until([&] { return rules() == "strict 6 online 5"; }));
  cluster.remove("InterferenceDetectionRule", "strict");
  CHECK(until([&] { return rules() == "online 5"; }));
}

TEST_CASE_FIXTURE(Rules,
                  "an invalid rule keeps its last good version, also over a restart, and is named with the field") {
  put("strict", R"({"rule": {"overQuiet": 4}})");
  start();
  REQUIRE(until([&] { return rules() == "strict 4"; }));
  put("strict", R"({"rule": {"overQuiet": 0.5}})");
  REQUIRE(until([&] { return capability().state == CapabilityState::broken; }));
  CHECK(capability().detail.starts_with(
      "current: InterferenceDetectionRule 'strict': spec.rule.overQuiet is 0.5, expected 1 to 100; keeping "));
  CHECK(rules() == "strict 4");
  start();
  REQUIRE(until([&] { return capability().detail.ends_with("; keeping the last good one"); }));
  CHECK(rules() == "strict 4");
  put("strict", R"({"rule": {"overQuiet": 7}})");
  CHECK(until([&] { return rules() == "strict 7"; }));
}

TEST_CASE_FIXTURE(Rules, "a cluster without the definition of rules has none, and the agent says so") {
  keep_old();
  cluster.fault("missing", R"({"kind": "InterferenceDetectionRule"})");
  start();
  REQUIRE(until([&] { return capability().detail.starts_with("absent"); }));
  CHECK(capability().state == CapabilityState::absent);
  CHECK(until([&] { return kept().empty(); }));
}

TEST_CASE_FIXTURE(Rules, "rules hold while the API server is away, and those of a cluster that is left are dropped") {
  keep_old();
  cluster.fault("error", R"({"kind": "InterferenceDetectionRule", "code": 503})");
  start();
  REQUIRE(until([&] { return watch && capability().detail.find("503") != std::string::npos; }));
  CHECK(rules() == "old 3");
  start(false);
  CHECK(kept().empty());
}

TEST_CASE_FIXTURE(Rules, "no request is sent to the API server while no plugin judges interference") {
  judge_state = host::PluginState::disabled;
  const auto before = cluster.requests(R"({"kind": "InterferenceDetectionRule"})").size();
  start();
  int polls = 0;
  const auto count = loop.every(std::chrono::seconds(1), [&] { ++polls; });
  CHECK(until([&] { return polls == 3; }));
  CHECK(cluster.requests(R"({"kind": "InterferenceDetectionRule"})").size() == before);
  judge_state = host::PluginState::running;
  CHECK(until([&] { return cluster.requests(R"({"kind": "InterferenceDetectionRule"})").size() > before; }));
}
