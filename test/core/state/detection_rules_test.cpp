// SPDX-License-Identifier: Apache-2.0
#include "core/state/detection_rules.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::state;
using analysis::RuleLayer;

namespace {

std::string object(const std::string& spec, const std::string& name = "strict", int generation = 3) {
  return R"({"apiVersion": "interference.koordinator.sh/v1alpha1", "kind": "InterferenceDetectionRule", "metadata": {"name": ")" +
         name + R"(", "generation": )" + std::to_string(generation) + R"(}, "spec": )" + spec + "}";
}

std::string problem(const std::string& spec) {
  const auto rule = parse_detection_rule(object(spec));
  return rule ? "" : rule.error().message();
}

}  // namespace

TEST_CASE("an object has the settings of the configuration, in the same units") {
  const auto rule = parse_detection_rule(object(
      R"({"priority": 7, "rule": {"heldUpMsPerSecond": 12.5, "clearAfter": "1m", "windows": 6, "blkio": {"excessMs": 1}, "memory": {"overQuiet": 3}, "overQuiet": null}})"));
  REQUIRE(rule);
  CHECK(rule->layer == RuleLayer{"strict",
                                 {{"heldUpMsPerSecond", 12.5},
                                  {"clearAfter", 60},
                                  {"windows", 6},
                                  {"blkio.excessMs", 1},
                                  {"memory.overQuiet", 3}},
                                 7});
  CHECK(rule->generation == 3);
  CHECK(rule->applies_to({}));
  CHECK(parse_detection_rule(object("{}")));
  CHECK(parse_detection_rule(object("null")));
}

TEST_CASE("an error names the field, what was found and what is expected") {
  CHECK(problem(R"({"rule": {"overQuiet": 0.5}})") == "spec.rule.overQuiet is 0.5, expected 1 to 100");
  CHECK(problem(R"({"rule": {"blkio": {"excessMs": -1}}})") == "spec.rule.blkio.excessMs is -1, expected 0 to 10000");
  CHECK(problem(R"({"rule": {"clearAfter": 10}})") == "spec.rule.clearAfter is a number, expected a time such as 10s");
  CHECK(problem(R"({"rule": {"windows": "5"}})") == "spec.rule.windows is '5', expected a number");
  CHECK(problem(R"({"rule": {"windows": [5]}})") == "spec.rule.windows: expected a number, found a list");
  CHECK(problem(R"({"rule": {"overQuite": 2}})") == "spec.rule.overQuite: unknown, expected a setting of the rule");
  CHECK(problem(R"({"rule": {"blkio": {"memory": {}}}})") ==
        "spec.rule.blkio.memory: unknown, expected a setting of the rule");
  CHECK(problem(R"({"rule": {"windows": 3, "windowsWithFinding": 4}})") ==
        "spec.rule.windowsWithFinding is 4, expected at most windows, 3");
  CHECK(problem(R"({"rule": 5})") == "spec.rule: expected a mapping, found a number");
  CHECK(problem(R"({"priority": 1001})") == "spec.priority is 1001, expected 0 to 1000");
  CHECK(problem(R"({"nodeSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]}})") ==
        "spec.nodeSelector.matchExpressions[0].operator: found 'Near', expected In, NotIn, Exists or DoesNotExist");
  CHECK(problem(R"({"nodeSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}})") ==
        "spec.nodeSelector.matchExpressions[0].values: found none, expected at least one");
  CHECK(problem(R"({"nodeSelector": {"pool": "online"}})") ==
        "spec.nodeSelector.pool: unknown, expected matchLabels or matchExpressions");
  CHECK(problem(R"([])") == "spec: expected a mapping, found a list");
  CHECK_FALSE(parse_detection_rule(R"({"kind": "Pod", "metadata": {"name": "a"}})"));
  CHECK_FALSE(parse_detection_rule("{" + std::string(100'000, ' ') + "}"));
}

TEST_CASE("an object holds on nodes that its selector matches, and the higher priority overrides the lower one") {
  DetectionRules rules;
  const auto problems = rules.take(
      {{"all", object(R"({"rule": {"overQuiet": 2}})", "all")},
       {"b", object(R"({"priority": 5, "nodeSelector": {"matchLabels": {"pool": "online"}}, "rule": {"overQuiet": 4}})",
                    "b")},
       {"a",
        object(
            R"({"priority": 5, "nodeSelector": {"matchExpressions": [{"key": "pool", "operator": "Exists"}]}, "rule": {"overQuiet": 3}})",
            "a")},
       {"none", object(R"({"priority": 9})", "none")}});
  CHECK(problems.empty());
  CHECK(rules.size() == 4);
  REQUIRE(rules.layers_for({}).size() == 1);
  const auto names = [&](const StringMap& labels) {
    std::string text;
    for (const RuleLayer& layer : rules.layers_for(labels)) text += layer.source + " ";
    return text;
  };
  CHECK(names({{"pool", "online"}}) == "all b a ");
  CHECK(names({{"pool", "batch"}}) == "all a ");
}

TEST_CASE("a selector of workloads is the scope of the object's rule") {
  const auto scope = [](const std::string& selector) {
    const auto rule = parse_detection_rule(object(R"({"workloadSelector": )" + selector + "}"));
    REQUIRE(rule);
    return rule->layer.scope;
  };
  using analysis::LabelOperator;
  CHECK(scope(R"({"namespaces": ["shop", "batch"]})") == analysis::WorkloadScope{{"shop", "batch"}, {}, {}});
  CHECK(
      scope(
          R"({"matchLabels": {"tier": ""}, "matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a", "b"]},
      {"key": "gpu", "operator": "Exists"}]})") == analysis::WorkloadScope{{},
                                                                           {{"tier", LabelOperator::in, {""}},
                                                                            {"app", LabelOperator::not_in, {"a", "b"}},
                                                                            {"gpu", LabelOperator::exists, {}}},
                                                                           {}});
  CHECK(scope(R"({"owners": [{"kind": "Deployment", "name": "cart"}]})") ==
        analysis::WorkloadScope{{}, {}, {{"Deployment", "cart"}}});
  CHECK_FALSE(scope("null"));
}

TEST_CASE("an error in a selector of workloads names the field, what was found and what is expected") {
  const auto in_selector = [](const std::string& selector) {
    return problem(R"({"workloadSelector": )" + selector + "}");
  };
  struct Row {
    const char *selector, *error;
  };
  const Row rows[] = {
      {R"({})", "spec.workloadSelector: selects nothing, expected namespaces, owners, matchLabels or matchExpressions"},
      {R"({"namespaces": []})",
       "spec.workloadSelector: selects nothing, expected namespaces, owners, matchLabels or matchExpressions"},
      {R"({"namespace": "shop"})",
       "spec.workloadSelector.namespace: unknown, expected namespaces, owners, matchLabels or matchExpressions"},
      {R"({"namespaces": "shop"})", "spec.workloadSelector.namespaces: expected a list, found text"},
      {R"({"namespaces": ["my shop"]})",
       "spec.workloadSelector.namespaces[0]: expected at most 255 bytes without blanks"},
      {R"({"owners": [{"name": "cart"}]})", "spec.workloadSelector.owners[0].kind: expected text, found nothing"},
      {R"({"matchExpressions": [{"key": "app", "operator": "Near"}]})",
       "spec.workloadSelector.matchExpressions[0].operator: found 'Near', expected In, NotIn, Exists or DoesNotExist"},
      {R"({"matchLabels": {"a b": "c"}})",
       "spec.workloadSelector: expected keys and values of at most 255 bytes without blanks"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.selector);
    CHECK(in_selector(row.selector) == row.error);
  }
  std::string many = "\"a\"";
  for (std::size_t i = 0; i < analysis::kMaxInScope; ++i) many += ", \"a\"";
  CHECK(in_selector("{\"namespaces\": [" + many + "]}") ==
        "spec.workloadSelector.namespaces: found 1001, expected at most 1000");
}

TEST_CASE("a rule for some workloads has no setting that holds for all of them") {
  for (const char* setting :
       {"\"quietPercentile\": 20", "\"quietWindows\": 20", "\"quietHalfLife\": \"1h\"", "\"forgetAfter\": \"1h\"",
        "\"saveInterval\": \"1h\"", "\"blkio\": {\"quietWindows\": 20}", "\"blkio\": {\"quietHalfLife\": \"1h\"}"}) {
    CAPTURE(setting);
    const std::string rule = std::string(R"("rule": {)") + setting + "}";
    CHECK(problem("{" + rule + "}").empty());
    CHECK(problem(R"({"workloadSelector": {"namespaces": ["shop"]}, )" + rule + "}")
              .ends_with(" holds for all workloads of a node, expected none beside spec.workloadSelector"));
  }
}

TEST_CASE("objects for some workloads override those for all that have the same priority") {
  DetectionRules rules;
  CHECK(rules
            .take({{"a", object(R"({"workloadSelector": {"namespaces": ["shop"]}, "rule": {"overQuiet": 2}})", "a")},
                   {"b", object(R"({"rule": {"overQuiet": 3}})", "b")},
                   {"c", object(R"({"workloadSelector": {"namespaces": ["shop"]}, "rule": {"overQuiet": 4}})", "c")},
                   {"d", object(R"({"priority": 1, "rule": {"overQuiet": 5}})", "d")}})
            .empty());
  std::string names;
  for (const RuleLayer& layer : rules.layers_for({})) names += layer.source + " ";
  CHECK(names == "b c a d ");
}

TEST_CASE("an object that cannot be taken keeps its last good version, in this session or the one before") {
  const std::string bad = object(R"({"rule": {"overQuiet": 0.5}})", "strict", 4);
  DetectionRules rules;
  CHECK(rules.take({{"strict", object(R"({"rule": {"overQuiet": 4}})")}}).empty());
  const auto problems = rules.take({{"strict", bad}});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0] ==
        "InterferenceDetectionRule 'strict': spec.rule.overQuiet is 0.5, expected 1 to 100; keeping generation 3");
  REQUIRE(rules.layers_for({}).size() == 1);

  DetectionRules restarted(rules.layers_for({}));
  CHECK(restarted.take({{"strict", bad}}).at(0).ends_with("; keeping the last good one"));
  CHECK(restarted.layers_for({}) == rules.layers_for({}));
  CHECK(restarted.take({}).empty());
  CHECK(restarted.layers_for({}).empty());
  CHECK(restarted.take({{"strict", bad}}).at(0).ends_with("; it has no effect"));
  CHECK(restarted.layers_for({}).empty());
}
