// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/rule_layers.hpp"

#include <map>

#include "core/base/record.hpp"

namespace koord::analysis {
namespace {

constexpr std::string_view kRule = "rule";

Result<RuleLayer> read_layer(std::string_view line) {
  FieldReader fields(TRY(open_record(kRuleLayersVersion, line)));
  const std::string_view kind = TRY(fields.text());
  if (kind != kRule) return invalid("it is no rule");
  RuleLayer layer;
  layer.source = TRY(fields.text());
  layer.priority = TRY(fields.count(kMaxRulePriority));
  layer.values.resize(TRY(fields.count(rule_settings().size())));
  for (auto& [name, value] : layer.values) {
    name = TRY(fields.text());
    value = TRY(fields.amount());
  }
  if (!can_be_a_field(layer.source) || !fields.at_end()) return invalid("its fields do not fit together");
  return layer;
}

Result<void> put(Rules& rules, const RuleLayer& layer) {
  for (const auto& [name, value] : layer.values) {
    const RuleSetting* setting = rule_setting_named(name);
    if (setting == nullptr) return invalid(name + " is unknown, expected a setting of the rule");
    TRY(setting->check(value));
  }
  for (const auto& [name, value] : layer.values) rule_setting_named(name)->put(rules, value);
  return {};
}

}  // namespace

Result<void> apply(Rules& rules, const RuleLayer& layer) {
  Rules changed = rules;
  TRY(put(changed, layer));
  TRY(check(changed));
  rules = changed;
  return {};
}

EffectiveRules effective_rules(const std::vector<RuleLayer>& layers) {
  EffectiveRules effective;
  std::map<std::string_view, const RuleLayer*> sources;  // by setting
  for (const RuleLayer& layer : layers) {
    if (const auto good = put(effective.rules, layer); !good) {
      effective.problems.push_back(layer.source + ": " + good.error().message());
      continue;
    }
    for (const auto& one : layer.values) sources[one.first] = &layer;
  }
  // These two depend on each other; each layer may have one of them.
  if (const auto good = check(effective.rules); !good) {
    effective.problems.push_back("all rules together: " + good.error().message() + "; both are as built in");
    for (const char* name : {"windows", "windowsWithFinding"}) {
      rule_setting_named(name)->put(effective.rules, rule_setting_named(name)->value_in(Rules()));
      sources.erase(name);
    }
  }
  for (const RuleSetting& setting : rule_settings()) {
    const auto source = sources.find(setting.name);
    if (source == sources.end()) continue;
    effective.origin += std::string(setting.name) + " " + setting.text_of(setting.value_in(effective.rules)) + " (" +
                        source->second->source + "), ";
  }
  effective.origin += sources.empty() ? "built in" : "all others built in";
  return effective;
}

std::string write_rule_layers(const std::vector<RuleLayer>& layers) {
  std::string text;
  for (const RuleLayer& layer : layers) {
    if (!can_be_a_field(layer.source)) continue;
    RecordWriter record;
    record << kRule << layer.source << std::uint64_t{layer.priority} << std::uint64_t{layer.values.size()};
    for (const auto& [name, value] : layer.values) record << name << value;
    text += record.line(kRuleLayersVersion);
  }
  return text;
}

ReadRuleLayers read_rule_layers(std::string_view text) {
  ReadRuleLayers read;
  read.problems = read_records(text, [&](std::string_view line) -> Result<void> {
    if (read.layers.size() >= kMaxRuleLayers) return invalid("more rules than expected");
    RuleLayer layer = TRY(read_layer(line));
    read.layers.push_back(std::move(layer));
    return {};
  });
  return read;
}

}  // namespace koord::analysis
