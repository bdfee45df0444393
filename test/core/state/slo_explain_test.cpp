// SPDX-License-Identifier: Apache-2.0
#include "core/state/slo_explain.hpp"

#include <doctest/doctest.h>

#include <boost/json.hpp>

#include "core/state/label_selector.hpp"
#include "core/state/slo_cluster.hpp"

using namespace koord;
using namespace koord::state;

namespace {
namespace json = boost::json;

struct Case {
  const char* received = nullptr;
  // Documents of the ConfigMap by key; empty: unknown.
  std::map<std::string, std::string> cluster = {};
  StringMap labels = {};
  const Pod* pod = nullptr;
};

SloExplanation explain(const std::string& field, const Case& given) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->node.labels = given.labels;
  if (given.received) snapshot->received_slo = std::make_shared<const std::string>(given.received);
  if (!given.cluster.empty()) {
    json::object data;
    for (const auto& [key, document] : given.cluster) data[key] = document;
    snapshot->cluster_slo = std::make_shared<const std::string>(json::serialize(data));
  }
  return SloExplainer::make(snapshot)->explain(**find_slo_field(field, given.pod), given.pod);
}

SloLayer layer(const SloExplanation& explanation, SloOrigin origin) {
  for (const SloLayer& candidate : explanation.layers)
    if (candidate.origin == origin) return candidate;
  return {};
}

Pod pod_of(KoordQos qos, StringMap annotations = {}) {
  Pod pod;
  pod.namespace_ = "shop";
  pod.name = "web";
  pod.koord_qos = qos;
  pod.labels["koordinator.sh/qosClass"] = name_of(qos);
  pod.annotations = std::move(annotations);
  return pod;
}

const std::map<std::string, std::string> kCluster = {{"resource-threshold-config", R"({
  "clusterStrategy": {"enable": true, "cpuSuppressThresholdPercent": 60},
  "nodeStrategies": [
    {"name": "gpu", "nodeSelector": {"matchLabels": {"kind": "gpu"}}, "cpuSuppressThresholdPercent": 40},
    {"name": "any", "nodeSelector": {"matchExpressions": [{"key": "kind", "operator": "Exists"}]}, "cpuSuppressThresholdPercent": 50}]})"}};

}  // namespace

TEST_CASE("a field is found by its path, by the end of one, and whatever the case") {
  CHECK((*find_slo_field("spec.resourceUsedThresholdWithBE.cpuSuppressThresholdPercent"))->path ==
        "resourceUsedThresholdWithBE.cpuSuppressThresholdPercent");
  CHECK((*find_slo_field("CPUSuppressThresholdPercent"))->field->name == "cpuSuppressThresholdPercent");
  CHECK((*find_slo_field("beClass.memoryQOS.wmarkRatio"))->profile == SloProfile::be);
  CHECK((*find_slo_field("hostApplications"))->field->type == SloType::list);
}

TEST_CASE("the pod's class selects among fields of several classes") {
  const Pod pod = pod_of(KoordQos::lse);
  CHECK((*find_slo_field("memoryQOS.wmarkRatio", &pod))->path == "resourceQOSStrategy.lsrClass.memoryQOS.wmarkRatio");
  const std::string error = find_slo_field("wmarkRatio").error().message();
  CHECK(
      error.starts_with("'wmarkRatio' is one of several fields: resourceQOSStrategy.lsrClass.memoryQOS.wmarkRatio, "));
}

TEST_CASE("an unknown field is answered with the nearest known one, a section with its fields") {
  CHECK(find_slo_field("cpuSupressThresholdPercent").error().message() ==
        "a NodeSLO has no field 'cpuSupressThresholdPercent'; the nearest is 'cpuSuppressThresholdPercent'");
  CHECK(
      find_slo_field("policies").error().message() ==
      "'policies' is a section; its fields are resourceQOSStrategy.policies.cpuPolicy, resourceQOSStrategy.policies.netQOSPolicy");
  CHECK(find_slo_field("").error().message() == "a NodeSLO has no field ''");
}

TEST_CASE("without other settings the default holds") {
  SloExplanation found = explain("cpuSuppressThresholdPercent", {});
  CHECK(found.value == "65");
  CHECK(found.winner == SloOrigin::fallback);
  CHECK(layer(found, SloOrigin::cluster).note == "the ConfigMap slo-controller-config is not known here");
  CHECK(layer(found, SloOrigin::object).note == "none is known here");
}

TEST_CASE("a missing value is distinguished from an unknown one") {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->received_slo = snapshot->cluster_slo = std::make_shared<const std::string>();
  SloExplanation found = SloExplainer::make(snapshot)->explain(**find_slo_field("cpuBurstPercent"));
  CHECK(found.value == "1000");
  CHECK(layer(found, SloOrigin::cluster).note == "the cluster has no such ConfigMap");
  CHECK(layer(found, SloOrigin::object).note == "the cluster has none for this node");
}

TEST_CASE("a field without a default and a value says what then holds") {
  SloExplanation found = explain("memoryEvictLowerPercent", {.received = "{}"});
  CHECK(found.winner == SloOrigin::none);
  CHECK(found.value.empty());
  CHECK(layer(found, SloOrigin::fallback).note == "none; then it is memoryEvictThresholdPercent - 2");
}

TEST_CASE("the first entry that selects the node goes before the cluster's value") {
  const char* received = R"({"resourceUsedThresholdWithBE": {"enable": true, "cpuSuppressThresholdPercent": 40}})";
  SloExplanation found = explain("cpuSuppressThresholdPercent", {received, kCluster, {{"kind", "gpu"}}});
  CHECK(found.value == "40");
  CHECK(found.winner == SloOrigin::node);
  CHECK(layer(found, SloOrigin::cluster).value == "60");
  CHECK(layer(found, SloOrigin::cluster).title == "clusterStrategy of resource-threshold-config");
  CHECK(layer(found, SloOrigin::node).title == "nodeStrategies[0] 'gpu' of resource-threshold-config");
  CHECK(layer(found, SloOrigin::node).value == "40");
  CHECK(layer(found, SloOrigin::object).note == "has it from there");
}

TEST_CASE("without an entry for the node the cluster's value holds, and one set by hand goes before it") {
  const char* received = R"({"resourceUsedThresholdWithBE": {"cpuSuppressThresholdPercent": 60}})";
  SloExplanation found = explain("cpuSuppressThresholdPercent", {received, kCluster});
  CHECK(found.winner == SloOrigin::cluster);
  CHECK(layer(found, SloOrigin::node).note == "none of 2 selects this node");
  SloExplanation by_hand =
      explain("cpuSuppressThresholdPercent",
              {R"({"resourceUsedThresholdWithBE": {"cpuSuppressThresholdPercent": 55}})", kCluster});
  CHECK(by_hand.winner == SloOrigin::object);
  CHECK(by_hand.value == "55");
  CHECK(layer(by_hand, SloOrigin::object).note == "differs from the cluster's settings");
}

TEST_CASE("a value that was dropped says why, and the default holds") {
  SloExplanation found = explain("cpuSuppressThresholdPercent",
                                 {R"({"resourceUsedThresholdWithBE": {"cpuSuppressThresholdPercent": 130}})"});
  CHECK(found.value == "65");
  CHECK(found.winner == SloOrigin::fallback);
  CHECK(layer(found, SloOrigin::object).value == "130");
  CHECK(layer(found, SloOrigin::object).note == "rejected: expected an integer from 0 to 100");
  const char* disordered =
      R"({"resourceUsedThresholdWithBE": {"memoryEvictThresholdPercent": 60, "memoryEvictLowerPercent": 65}})";
  CHECK(layer(explain("memoryEvictThresholdPercent", {disordered}), SloOrigin::object).note ==
        "rejected: it is not more than resourceUsedThresholdWithBE.memoryEvictLowerPercent, which is 65");
  CHECK(layer(explain("memoryEvictLowerPercent", {disordered}), SloOrigin::object).note ==
        "rejected: expected less than memoryEvictThresholdPercent, which is 60");
  CHECK(layer(explain("cpuBurstPercent", {R"({"cpuBurstStrategy": 7})"}), SloOrigin::object).note ==
        "rejected: expected a mapping");
  CHECK(layer(explain("hostApplications", {R"({"hostApplications": [{"name": "a"}, {}]})"}), SloOrigin::object).note ==
        "partly rejected: hostApplications[1].name: found null, expected text");
}

TEST_CASE(
    "a field of a strategy that an invalid figure makes inactive has no value, and the reason is a layer of its own") {
  const char* disordered =
      R"({"resourceUsedThresholdWithBE": {"memoryEvictThresholdPercent": 60, "memoryEvictLowerPercent": 65}})";
  SloExplanation found = explain("memoryEvictThresholdPercent", {disordered});
  CHECK(found.value.empty());
  CHECK(found.winner == SloOrigin::none);
  CHECK(layer(found, SloOrigin::off).title == "inactive");
  CHECK(layer(found, SloOrigin::off)
            .note.starts_with(
                "BEMemoryEvict is inactive: resourceUsedThresholdWithBE.memoryEvictLowerPercent: found 65"));
  SloExplanation part = explain("memoryEvictThresholdPercent",
                                {R"({"resourceUsedThresholdWithBE": {"evictEnabledPriorityThreshold": 0.5}})"});
  CHECK(part.value == "70");
  CHECK(part.winner == SloOrigin::fallback);
  CHECK(layer(part, SloOrigin::off).note.starts_with("MemoryEvict is inactive: "));
  SloExplanation burst =
      explain("cpuBurstStrategy.policy", {R"({"cpuBurstStrategy": {"policy": "auto", "cfsQuotaBurstPercent": 90}})"});
  CHECK(burst.value == "\"none\"");
  CHECK(burst.winner == SloOrigin::off);
}

TEST_CASE(
    "an invalid field of a pod's cpuBurst makes the pod's burst inactive, and on a node where it is inactive no annotation counts") {
  const Pod pod =
      pod_of(KoordQos::ls, {{"koordinator.sh/cpuBurst", R"({"policy": "nonsense", "cpuBurstPercent": 200})"}});
  SloExplanation found =
      explain("cpuBurstStrategy.policy", {.received = R"({"cpuBurstStrategy": {"policy": "auto"}})", .pod = &pod});
  CHECK(found.value == "\"none\"");
  CHECK(found.winner == SloOrigin::pod);
  CHECK(
      layer(found, SloOrigin::pod).note ==
      "the pod's CPU burst is inactive: policy: found \"nonsense\", expected one of none, cpuBurstOnly, cfsQuotaBurstOnly, auto");
  const Pod valid = pod_of(KoordQos::ls, {{"koordinator.sh/cpuBurst", R"({"policy": "auto"})"}});
  SloExplanation off = explain("cpuBurstStrategy.policy",
                               {.received = R"({"cpuBurstStrategy": {"cpuBurstPercent": -1}})", .pod = &valid});
  CHECK(off.value == "\"none\"");
  CHECK(layer(off, SloOrigin::pod).note == "the strategy is inactive on this node");
}

TEST_CASE("a class's section that is off says so") {
  const char* received = R"({"resourceQOSStrategy": {"beClass": {"cpuQOS": {"enable": false, "groupIdentity": 1}}}})";
  SloExplanation found = explain("beClass.cpuQOS.groupIdentity", {received});
  CHECK(found.value == "0");
  CHECK(found.winner == SloOrigin::off);
  CHECK(layer(found, SloOrigin::off).note == "resourceQOSStrategy.beClass.cpuQOS.enable is false");
  CHECK(layer(found, SloOrigin::object).value == "1");
  CHECK(explain("beClass.cpuQOS.enable", {received}).winner == SloOrigin::object);
}

TEST_CASE("host applications come from the first entry for the node, or from the cluster's list") {
  const std::map<std::string, std::string> cluster = {{"host-application-config", R"({"applications": [{"name": "a"}],
    "nodeConfigs": [{"name": "n", "nodeSelector": {}, "applications": [{"name": "b"}]}]})"}};
  SloExplanation found = explain("hostApplications", {R"({"hostApplications": [{"name": "b"}]})", cluster});
  CHECK(found.winner == SloOrigin::node);
  CHECK(layer(found, SloOrigin::cluster).value == R"([{"name":"a"}])");
}

TEST_CASE("a document of the ConfigMap that cannot be read is reported") {
  SloExplanation found = explain("cpuBurstPercent", {"{}", {{"cpu-burst-config", "{\"clusterStrategy\":"}}});
  CHECK(layer(found, SloOrigin::cluster).note.starts_with("cpu-burst-config cannot be read: not JSON: "));
  CHECK(layer(explain("cpuBurstPercent", {"{}", kCluster}), SloOrigin::cluster).note == "does not set it");
}

TEST_CASE("a pod's cpuBurst goes before the node's, except for classes that are never burst") {
  const StringMap annotations = {{"koordinator.sh/cpuBurst", R"({"policy": "auto", "cpuburstpercent": 200})"}};
  const Pod ls = pod_of(KoordQos::ls, annotations), be = pod_of(KoordQos::be, annotations);
  SloExplanation found = explain("cpuBurstStrategy.policy", {.received = "{}", .pod = &ls});
  CHECK(found.value == "\"auto\"");
  CHECK(found.winner == SloOrigin::pod);
  CHECK(layer(found, SloOrigin::pod).title == "pod shop/web, koordinator.sh/cpuBurst");
  CHECK(explain("cpuBurstPercent", {.pod = &ls}).value == "200");
  CHECK(explain("cpuBurstStrategy.policy", {.pod = &be}).winner == SloOrigin::fallback);
  CHECK(layer(explain("cpuBurstStrategy.policy", {.pod = &be}), SloOrigin::pod).note ==
        "pods of BE never exceed their CPU limit");
  Pod guaranteed = pod_of(KoordQos::lsr, annotations);
  CHECK(layer(explain("cpuBurstStrategy.policy", {.pod = &guaranteed}), SloOrigin::pod).note ==
        "pods of LSR never exceed their CPU limit");
  guaranteed.labels.clear();
  CHECK(explain("cpuBurstStrategy.policy", {.pod = &guaranteed}).winner == SloOrigin::pod);
  CHECK(layer(explain("sharePoolThresholdPercent", {.pod = &ls}), SloOrigin::pod).note ==
        "no annotation of a pod changes this field");
}

TEST_CASE("a pod's memoryQOS: its policy is the base, its fields go before it") {
  const std::string key = "koordinator.sh/memoryQOS";
  const Pod automatic = pod_of(KoordQos::be, {{key, R"({"policy": "auto", "lowLimitPercent": 30})"}});
  CHECK(explain("memoryQOS.wmarkRatio", {.pod = &automatic}).value == "95");
  CHECK(explain("memoryQOS.lowLimitPercent", {.pod = &automatic}).value == "30");
  CHECK(explain("memoryQOS.wmarkRatio", {.pod = &automatic}).winner == SloOrigin::pod);
  const Pod none = pod_of(KoordQos::be, {{key, R"({"policy": "none", "lowLimitPercent": 30})"}});
  CHECK(explain("memoryQOS.lowLimitPercent", {.pod = &none}).value == "0");
  const Pod plain = pod_of(KoordQos::be, {{key, R"({"lowLimitPercent": 30})"}});
  CHECK(explain("memoryQOS.lowLimitPercent", {.pod = &plain}).value == "30");
  CHECK(layer(explain("memoryQOS.wmarkRatio", {.pod = &plain}), SloOrigin::pod).note ==
        "the annotation does not set it");
  CHECK(layer(explain("lsClass.memoryQOS.wmarkRatio", {.pod = &plain}), SloOrigin::pod).note ==
        "the pod is of BE, which uses the section beClass");
}

TEST_CASE("a pod's cpuQOS counts with the label LS only, and is off unless it is enabled") {
  const std::string key = "koordinator.sh/cpuQOS";
  const Pod on = pod_of(KoordQos::ls, {{key, R"({"enable": true, "groupIdentity": 1})"}});
  CHECK(explain("cpuQOS.groupIdentity", {.pod = &on}).value == "1");
  const Pod off = pod_of(KoordQos::ls, {{key, R"({"groupIdentity": 1})"}});
  CHECK(explain("cpuQOS.groupIdentity", {.pod = &off}).value == "0");
  CHECK(explain("cpuQOS.groupIdentity", {.pod = &off}).winner == SloOrigin::pod);
  const Pod be = pod_of(KoordQos::be, {{key, R"({"enable": true, "groupIdentity": 1})"}});
  CHECK(explain("cpuQOS.groupIdentity", {.pod = &be}).winner == SloOrigin::off);
  CHECK(layer(explain("cpuQOS.groupIdentity", {.pod = &be}), SloOrigin::pod).note ==
        "it counts for pods with the label koordinator.sh/qosClass=LS only");
}

TEST_CASE("an unreadable annotation does not count and is reported") {
  const Pod pod = pod_of(KoordQos::ls, {{"koordinator.sh/networkQOS", "{"}});
  SloExplanation found = explain("networkQOS.ingressLimit", {.pod = &pod});
  CHECK(found.value == "0");
  CHECK(layer(found, SloOrigin::pod).note.starts_with("the annotation cannot be read and does not count: not JSON: "));
  const Pod right = pod_of(KoordQos::ls, {{"koordinator.sh/networkQOS", R"({"ingressLimit": "10M"})"}});
  CHECK(explain("networkQOS.ingressLimit", {.pod = &right}).value == "\"10M\"");
}

TEST_CASE("a label selector selects as Kubernetes has it") {
  const StringMap labels = {{"zone", "a"}, {"kind", "gpu"}};
  auto matches = [&](const char* text) {
    const json::value selector = json::parse(text);
    return selects(&selector, labels);
  };
  CHECK_FALSE(selects(nullptr, labels));
  CHECK(matches("{}"));
  CHECK(matches(R"({"matchLabels": {"zone": "a", "kind": "gpu"}})"));
  CHECK_FALSE(matches(R"({"matchLabels": {"zone": "b"}})"));
  CHECK(matches(R"({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b", "a"]}]})"));
  CHECK(matches(
      R"({"matchExpressions": [{"key": "other", "operator": "NotIn", "values": ["a"]}, {"key": "other", "operator": "DoesNotExist"}]})"));
  CHECK_FALSE(matches(R"({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]})"));
  CHECK_FALSE(matches(R"({"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["a"]}]})"));
  CHECK_FALSE(matches(R"({"matchExpressions": 5})"));
}
