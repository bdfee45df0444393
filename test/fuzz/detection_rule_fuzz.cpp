// SPDX-License-Identifier: Apache-2.0
// An object InterferenceDetectionRule of any content. An accepted object must be valid for the plugin without changes,
// and all its values must be within their bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/state/detection_rules.hpp"

using namespace koord;
using namespace koord::state;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<DetectionRule> rule = parse_detection_rule(text);
  DetectionRules rules;
  const std::string name = rule ? rule->layer.source : "any";
  const std::vector<std::string> problems = rules.take({{name, std::string(text)}});
  if (rule.has_value() != problems.empty()) std::abort();
  if (!rule) return 0;
  (void)rule->applies_to({{"pool", "online"}});
  for (const auto& [setting, value] : rule->layer.values) {
    const analysis::RuleSetting* known = analysis::rule_setting_named(setting);
    if (known == nullptr || !known->check(value)) std::abort();
  }
  const std::vector<analysis::RuleLayer> layers = rules.layers_for({});
  const analysis::ReadRuleLayers read = analysis::read_rule_layers(analysis::write_rule_layers(layers));
  if (!read.problems.empty()) std::abort();
  return 0;
}
