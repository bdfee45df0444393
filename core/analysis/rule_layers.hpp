// SPDX-License-Identifier: Apache-2.0
// Layers of the rules: the built-in values, those of the configuration, those of the cluster's objects. A later layer
// overrides single settings of those before it. Also layers as text: the agent passes those of the cluster on to the
// plugin that judges. Pure. [any thread]
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
  std::vector<std::pair<std::string, double>> values;  // setting, value in its unit; a time in seconds
  std::size_t priority = 0;                            // of an object: 0 to kMaxRulePriority
  std::optional<WorkloadScope> scope = std::nullopt;   // nullopt: all that is judged on the node

  bool operator==(const RuleLayer&) const = default;
};

// All or nothing. Fails if a setting is unknown or out of its bounds, or if two of them do not fit together.
Result<void> apply(Rules& rules, const RuleLayer& layer);

// The rules in force, and where they are from. The layers' scopes are ignored.
struct EffectiveRules {
  Rules rules;
  std::vector<std::string> problems;  // "strict: overQuiet is 0.5, expected 1 to 100": of layers that are left out
  std::string origin;  // "built in", or "overQuiet 3 (configuration), windows 7 (strict), all others built in"
};
EffectiveRules effective_rules(const std::vector<RuleLayer>& layers);

inline constexpr int kRuleLayersVersion = 1;
inline constexpr std::size_t kMaxRuleLayers = 1000;
// Namespaces, requirements, values of one, or owners of a scope.
inline constexpr std::size_t kMaxInScope = 1000;
// The key of the store, for koord.kv/1.
inline constexpr const char* kRuleLayersKey = "host/interference_rules";

std::string write_rule_layers(const std::vector<RuleLayer>& layers);
struct ReadRuleLayers {
  std::vector<RuleLayer> layers;
  std::vector<std::string> problems;  // as of read_records()
};
ReadRuleLayers read_rule_layers(std::string_view text);

}  // namespace koord::analysis
