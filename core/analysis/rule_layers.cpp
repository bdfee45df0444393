// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/rule_layers.hpp"

#include <map>
#include <utility>

#include "core/base/record.hpp"

namespace koord::analysis {
namespace {

constexpr std::string_view kRule = "rule", kScope = "workloads";
// Prefix of texts, because the text of a label may be empty, but a field may not be.
constexpr std::string_view kText = "=";

Result<std::string> read_text(FieldReader& fields) {
  const std::string_view text = TRY(fields.text());
  if (!text.starts_with(kText)) return invalid("a text of a scope has another form");
  return std::string(text.substr(kText.size()));
}

Result<std::vector<std::string>> read_texts(FieldReader& fields) {
  std::vector<std::string> texts(TRY(fields.count(kMaxInScope)));
  for (std::string& text : texts) text = TRY(read_text(fields));
  return texts;
}

Result<WorkloadScope> read_scope(FieldReader& fields) {
  const std::string_view kind = TRY(fields.text());
  if (kind != kScope) return invalid("its fields do not fit together");
  WorkloadScope scope;
  scope.namespaces = TRY(read_texts(fields));
  scope.labels.resize(TRY(fields.count(kMaxInScope)));
  for (LabelRequirement& one : scope.labels) {
    one.key = TRY(read_text(fields));
    one.op = static_cast<LabelOperator>(TRY(fields.count(static_cast<std::uint64_t>(LabelOperator::does_not_exist))));
    one.values = TRY(read_texts(fields));
  }
  scope.owners.resize(TRY(fields.count(kMaxInScope)));
  for (WorkloadOwner& one : scope.owners) {
    one.kind = TRY(read_text(fields));
    one.name = TRY(read_text(fields));
  }
  return scope;
}

void write_text(RecordWriter& record, const std::string& text) { record << std::string(kText) + text; }

void write_texts(RecordWriter& record, const std::vector<std::string>& texts) {
  record << std::uint64_t{texts.size()};
  for (const std::string& text : texts) write_text(record, text);
}

void write_scope(RecordWriter& record, const WorkloadScope& scope) {
  record << kScope;
  write_texts(record, scope.namespaces);
  record << std::uint64_t{scope.labels.size()};
  for (const LabelRequirement& one : scope.labels) {
    write_text(record, one.key);
    record << static_cast<std::uint64_t>(one.op);
    write_texts(record, one.values);
  }
  record << std::uint64_t{scope.owners.size()};
  for (const WorkloadOwner& one : scope.owners) {
    write_text(record, one.kind);
    write_text(record, one.name);
  }
}

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
  if (!fields.at_end()) layer.scope = TRY(read_scope(fields));
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
  std::map<std::string_view, const RuleLayer*> sources;  // key: setting; value: the layer that set it
  for (const RuleLayer& layer : layers) {
    if (const auto good = put(effective.rules, layer); !good) {
      effective.problems.push_back(layer.source + ": " + good.error().message());
      continue;
    }
    for (const auto& one : layer.values) sources[one.first] = &layer;
  }
  // These two settings depend on each other, and may come from different layers.
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
    if (layer.scope) write_scope(record, *layer.scope);
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
