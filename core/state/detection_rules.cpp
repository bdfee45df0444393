// SPDX-License-Identifier: Apache-2.0
#include "core/state/detection_rules.hpp"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <tuple>
#include <utility>

#include "core/base/record.hpp"
#include "core/state/document.hpp"
#include "core/state/label_selector.hpp"

namespace koord::state {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 4> kOperators{"In", "NotIn", "Exists", "DoesNotExist"};

Result<void> check_expression(const Field& expression) {
  TRY(expression["key"].required_text());
  const std::string oper = TRY(expression["operator"].required_text());
  if (std::find(kOperators.begin(), kOperators.end(), oper) == kOperators.end())
    return expression["operator"].wrong("found '" + oper.substr(0, 32) +
                                        "', expected In, NotIn, Exists or DoesNotExist");
  const std::vector<Field> values = TRY(expression["values"].list());
  for (const Field& value : values) TRY(value.required_text());
  if (values.empty() && oper.ends_with("In")) return expression["values"].wrong("found none, expected at least one");
  return {};
}

Result<void> check_selector(const Field& selector) {
  TRY(selector["matchLabels"].text_map());
  const std::vector<Field> expressions = TRY(selector["matchExpressions"].list());
  for (const Field& expression : expressions) TRY(check_expression(expression));
  const auto members = TRY(selector.members());
  for (const auto& [key, member] : members)
    if (key != "matchLabels" && key != "matchExpressions")
      return member.wrong("unknown, expected matchLabels or matchExpressions");
  return {};
}

// Returns the value of a setting. Removes the setting's name from the start of an error, because the path contains it.
Result<double> value_of(const Field& member, const analysis::RuleSetting& setting) {
  const bool is_text = member.is_text();
  Result<double> value = 0.0;
  if (is_text) {
    const std::string text = TRY(member.text());
    value = analysis::rule_value(setting, text);
  } else {
    const double number = TRY(member.number());
    value = analysis::rule_value(setting, number);
  }
  if (value) return value;
  const std::string text = std::move(value).error().text;
  return invalid(member.path() + text.substr(std::min(setting.name.size(), text.size())));
}

// Reads all settings of a mapping. `prefix`: "blkio." for the settings below rule.blkio.
Result<void> read_settings(const Field& rule, const std::string& prefix, analysis::RuleLayer& layer) {
  const auto members = TRY(rule.members());
  for (const auto& [key, member] : members) {
    if (member.empty()) continue;
    const analysis::RuleSetting* setting = analysis::rule_setting_named(prefix + key);
    if (setting != nullptr) {
      const double value = TRY(value_of(member, *setting));
      layer.values.emplace_back(setting->name, value);
      continue;
    }
    if (!prefix.empty() || (key != "blkio" && key != "memory"))
      return member.wrong("unknown, expected a setting of the rule");
    TRY(read_settings(member, key + ".", layer));
  }
  return {};
}

Result<std::string> text_for_scope(const Field& field) {
  std::string text = TRY(field.required_text());
  if (!can_be_a_field("=" + text)) return field.wrong("expected at most 255 bytes without blanks");
  return text;
}

Result<std::vector<std::string>> texts_for_scope(const Field& field) {
  const std::vector<Field> list = TRY(field.list(analysis::kMaxInScope));
  std::vector<std::string> texts;
  for (const Field& one : list) {
    std::string text = TRY(one.text());
    if (!can_be_a_field("=" + text)) return one.wrong("expected at most 255 bytes without blanks");
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::vector<analysis::LabelRequirement>> read_requirements(const Field& selector) {
  using analysis::LabelOperator;
  std::vector<analysis::LabelRequirement> requirements;
  const auto labels = TRY(selector["matchLabels"].text_map());
  for (const auto& [key, value] : labels) requirements.push_back({key, LabelOperator::in, {value}});
  const std::vector<Field> expressions = TRY(selector["matchExpressions"].list(analysis::kMaxInScope));
  for (const Field& expression : expressions) {
    TRY(check_expression(expression));
    const std::string oper = TRY(expression["operator"].required_text());
    analysis::LabelRequirement one;
    one.key = TRY(text_for_scope(expression["key"]));
    one.op = static_cast<LabelOperator>(std::find(kOperators.begin(), kOperators.end(), oper) - kOperators.begin());
    if (oper.ends_with("In")) one.values = TRY(texts_for_scope(expression["values"]));
    requirements.push_back(std::move(one));
  }
  if (requirements.size() > analysis::kMaxInScope)
    return selector.wrong("found " + std::to_string(requirements.size()) + " labels, expected at most " +
                          std::to_string(analysis::kMaxInScope));
  for (const analysis::LabelRequirement& one : requirements)
    if (!can_be_a_field("=" + one.key) || (one.values.size() == 1 && !can_be_a_field("=" + one.values[0])))
      return selector.wrong("expected keys and values of at most 255 bytes without blanks");
  return requirements;
}

Result<analysis::WorkloadScope> read_scope(const Field& selector) {
  analysis::WorkloadScope scope;
  const auto members = TRY(selector.members());
  constexpr std::array<std::string_view, 4> kMembers{"namespaces", "owners", "matchLabels", "matchExpressions"};
  for (const auto& [key, member] : members)
    if (std::find(kMembers.begin(), kMembers.end(), key) == kMembers.end())
      return member.wrong("unknown, expected namespaces, owners, matchLabels or matchExpressions");
  scope.namespaces = TRY(texts_for_scope(selector["namespaces"]));
  scope.labels = TRY(read_requirements(selector));
  const std::vector<Field> owners = TRY(selector["owners"].list(analysis::kMaxInScope));
  for (const Field& owner : owners) {
    std::string kind = TRY(text_for_scope(owner["kind"]));
    std::string name = TRY(text_for_scope(owner["name"]));
    scope.owners.push_back({std::move(kind), std::move(name)});
  }
  if (scope == analysis::WorkloadScope())
    return selector.wrong("selects nothing, expected namespaces, owners, matchLabels or matchExpressions");
  return scope;
}

// Fails if a rule for some workloads has a setting of the whole node, because quiet levels and retention are the same
// for all workloads.
Result<void> check_settings_of_workloads(const analysis::RuleLayer& layer) {
  for (const auto& one : layer.values)
    if (analysis::rule_setting_named(one.first)->is_of_node)
      return invalid("spec.rule." + one.first +
                     " holds for all workloads of a node, expected none beside "
                     "spec.workloadSelector");
  return {};
}

// Compares two settings only if the object has both. Otherwise the result depends on the node's own configuration.
Result<void> check_windows(const analysis::RuleLayer& layer) {
  double windows = 0, of_them = 0;
  for (const auto& [name, value] : layer.values) {
    if (name == "windows") windows = value;
    if (name == "windowsWithFinding") of_them = value;
  }
  if (windows > 0 && of_them > windows)
    return invalid("spec.rule.windowsWithFinding is " + std::to_string(static_cast<int>(of_them)) +
                   ", expected at most windows, " + std::to_string(static_cast<int>(windows)));
  return {};
}

}  // namespace

bool DetectionRule::applies_to(const StringMap& node_labels) const {
  return !selector || selects(&*selector, node_labels);
}

Result<DetectionRule> parse_detection_rule(std::string_view text) {
  const json::value document = TRY(read_json(text, 64u << 10));
  const Field object(document);
  TRY(object.members());
  TRY(check_kind(object, {"InterferenceDetectionRule"}));
  DetectionRule rule;
  rule.layer.source = TRY(object["metadata"]["name"].required_text());
  if (!can_be_a_field(rule.layer.source)) return object["metadata"]["name"].wrong("expected a name without blanks");
  rule.generation = TRY(object["metadata"]["generation"].integer(0));
  const Field spec = object["spec"];
  TRY(spec.check_mapping());
  const std::int64_t priority = TRY(spec["priority"].integer(0));
  if (priority < 0 || priority > static_cast<std::int64_t>(analysis::kMaxRulePriority))
    return invalid("spec.priority is " + std::to_string(priority) + ", expected 0 to " +
                   std::to_string(analysis::kMaxRulePriority));
  rule.layer.priority = static_cast<std::size_t>(priority);
  if (const Field selector = spec["nodeSelector"]; !selector.empty()) {
    TRY(check_selector(selector));
    rule.selector = TRY(read_json(selector.json()));
  }
  if (!spec["rule"].empty()) TRY(read_settings(spec["rule"], "", rule.layer));
  if (const Field selector = spec["workloadSelector"]; !selector.empty()) {
    rule.layer.scope = TRY(read_scope(selector));
    TRY(check_settings_of_workloads(rule.layer));
  }
  TRY(check_windows(rule.layer));
  return rule;
}

DetectionRules::DetectionRules(std::vector<analysis::RuleLayer> of_last_session) {
  for (analysis::RuleLayer& layer : of_last_session) of_last_session_.emplace(layer.source, layer);
}

std::vector<std::string> DetectionRules::take(const std::map<std::string, std::string>& objects) {
  std::erase_if(rules_, [&](const auto& one) { return !objects.contains(one.first); });
  std::vector<std::string> problems;
  for (const auto& [name, text] : objects) {
    Result<DetectionRule> rule = parse_detection_rule(text);
    if (rule && rule->layer.source != name) rule = invalid("metadata.name is another than '" + name + "'");
    if (rule) {
      rules_.insert_or_assign(name, *std::move(rule));
      continue;
    }
    std::string kept = "; it has no effect";
    const auto last = of_last_session_.find(name);
    if (!rules_.contains(name) && last != of_last_session_.end())
      rules_.emplace(name, DetectionRule{last->second, std::nullopt, 0});
    if (const auto good = rules_.find(name); good != rules_.end())
      kept = good->second.generation == 0 ? "; keeping the last good one"
                                          : "; keeping generation " + std::to_string(good->second.generation);
    problems.push_back("InterferenceDetectionRule '" + name + "': " + rule.error().message() + kept);
  }
  of_last_session_.clear();
  return problems;
}

std::vector<analysis::RuleLayer> DetectionRules::layers_for(const StringMap& node_labels) const {
  std::vector<analysis::RuleLayer> layers;
  for (const auto& one : rules_)
    if (one.second.applies_to(node_labels) && !one.second.layer.values.empty()) layers.push_back(one.second.layer);
  std::sort(layers.begin(), layers.end(), [](const analysis::RuleLayer& a, const analysis::RuleLayer& b) {
    const bool a_is_for_some = a.scope.has_value(), b_is_for_some = b.scope.has_value();
    return std::tie(a.priority, a_is_for_some, b.source) < std::tie(b.priority, b_is_for_some, a.source);
  });
  return layers;
}

}  // namespace koord::state
