// SPDX-License-Identifier: Apache-2.0
// Layers of the rules: the built-in values, the values of the configuration, and the values of objects of the cluster.
// A later layer overrides single settings of earlier layers. Also converts layers to text, which the agent passes to
// the plugin that judges. Pure. [any thread]
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/analysis/rules.hpp"
#include "core/analysis/workload_scope.hpp"
#include "core/base/result.hpp"

namespace koord::analysis {

inline constexpr std::size_t kMaxRulePriority = 1000;

struct RuleLayer {
  std::string source;                                  // "configuration", or the name of an object; no blanks
  std::vector<std::pair<std::string, double>> values;  // name and value in the setting's unit; a time in seconds
  std::size_t priority = 0;                            // for an object: 0 to kMaxRulePriority
  std::optional<WorkloadScope> scope = std::nullopt;   // nullopt: all workloads of the node

  bool operator==(const RuleLayer&) const = default;
};

// Applies all settings of the layer, or none on an error. Fails if a setting is unknown, out of bounds, or inconsistent
// with a different setting.
Result<void> apply(Rules& rules, const RuleLayer& layer);

// The rules in force, and their sources. Ignores the scopes of layers.
struct EffectiveRules {
  Rules rules;
  std::vector<std::string> problems;  // ignored layers: "strict: overQuiet is 0.5, expected 1 to 100"
  std::string origin;  // "built in", or "overQuiet 3 (configuration), windows 7 (strict), all others built in"
};
EffectiveRules effective_rules(const std::vector<RuleLayer>& layers);

inline constexpr int kRuleLayersVersion = 1;
inline constexpr std::size_t kMaxRuleLayers = 1000;
// Limit for namespaces, requirements, values of a requirement, or owners in a scope.
inline constexpr std::size_t kMaxInScope = 1000;
// The key of koord.kv/1.
inline constexpr const char* kRuleLayersKey = "host/interference_rules";

std::string write_rule_layers(const std::vector<RuleLayer>& layers);
struct ReadRuleLayers {
  std::vector<RuleLayer> layers;
  std::vector<std::string> problems;  // see read_records()
};
ReadRuleLayers read_rule_layers(std::string_view text);

}  // namespace koord::analysis
