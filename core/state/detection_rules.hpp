// SPDX-License-Identifier: Apache-2.0
// DetectionRules: the cluster's objects InterferenceDetectionRule, which override constants of the verdict on nodes
// with certain labels, for all workloads or for some. An object that cannot be taken keeps its last good version. Pure.
// [one thread]
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/rule_layers.hpp"
#include "core/base/result.hpp"
#include "core/state/pod.hpp"

namespace koord::state {

struct DetectionRule {
  analysis::RuleLayer layer;                   // the object's name is its source
  std::optional<boost::json::value> selector;  // of nodes; nullopt: all of them
  std::int64_t generation = 0;

  bool applies_to(const StringMap& node_labels) const;
};

// The error names the field, what was found and what is expected.
Result<DetectionRule> parse_detection_rule(std::string_view text);

class DetectionRules {
 public:
  // `of_last_session`: the layers that held on this node then.
  explicit DetectionRules(std::vector<analysis::RuleLayer> of_last_session = {});

  // All objects of the cluster as JSON, by name. Returns the problems: "InterferenceDetectionRule 'strict':
  // spec.rule.overQuiet is 0.5, expected 1 to 100; keeping generation 3".
  std::vector<std::string> take(const std::map<std::string, std::string>& objects);

  // Those of higher priority come later; of the same priority, those for some workloads; of these, those with a name
  // that comes first in the alphabet.
  std::vector<analysis::RuleLayer> layers_for(const StringMap& node_labels) const;
  std::size_t size() const { return rules_.size(); }

 private:
  std::map<std::string, DetectionRule> rules_;
  std::map<std::string, analysis::RuleLayer> of_last_session_;
};

}  // namespace koord::state
