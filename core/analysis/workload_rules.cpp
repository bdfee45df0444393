// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/workload_rules.hpp"

#include <algorithm>
#include <utility>

namespace koord::analysis {

WorkloadRules::WorkloadRules(std::vector<RuleLayer> layers) : layers_(std::move(layers)) {
  node_ = effective_rules(chosen(std::vector<bool>(layers_.size())));
  least_refault_time_ = node_.rules.memory.refault_time;
  std::string of_workloads;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (!layers_[i].scope) continue;
    std::vector<bool> applies(layers_.size());
    applies[i] = true;
    const EffectiveRules effective = effective_rules(chosen(applies));
    for (const std::string& problem : effective.problems)
      if (std::find(node_.problems.begin(), node_.problems.end(), problem) == node_.problems.end())
        node_.problems.push_back(problem);
    least_refault_time_ = std::min(least_refault_time_, effective.rules.memory.refault_time);
    for (const auto& [name, value] : layers_[i].values)
      if (const RuleSetting* setting = rule_setting_named(name))
        of_workloads += ", " + name + " " + setting->text_of(value) + " (" + layers_[i].source + ")";
  }
  if (!of_workloads.empty()) node_.origin += "; of some workloads: " + of_workloads.substr(2);
}

std::vector<RuleLayer> WorkloadRules::chosen(const std::vector<bool>& applies) const {
  std::vector<RuleLayer> layers;
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (!layers_[i].scope || applies[i]) layers.push_back(layers_[i]);
  return layers;
}

bool WorkloadRules::has_scopes() const {
  return std::any_of(layers_.begin(), layers_.end(), [](const RuleLayer& layer) { return layer.scope.has_value(); });
}

std::shared_ptr<const Rules> WorkloadRules::of(const WorkloadFacts& pod) {
  std::vector<bool> applies(layers_.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) applies[i] = layers_[i].scope && layers_[i].scope->contains(pod);
  if (std::find(applies.begin(), applies.end(), true) == applies.end()) return nullptr;
  std::shared_ptr<const Rules>& rules = known_[applies];
  if (!rules) rules = std::make_shared<const Rules>(effective_rules(chosen(applies)).rules);
  return rules;
}

}  // namespace koord::analysis
