// SPDX-License-Identifier: Apache-2.0
// WorkloadRules: the rules of a node, and separate rules for workloads in the scope of a layer. Workloads in the same
// scopes share one value. [one thread at a time]
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/rule_layers.hpp"

namespace koord::analysis {

class WorkloadRules {
 public:
  // A later layer overrides earlier ones, with or without a scope.
  explicit WorkloadRules(std::vector<RuleLayer> layers = {});

  const Rules& of_node() const { return node_.rules; }
  // Returns the sources: "overQuiet 3 (configuration), all others built in; of some workloads: overQuiet 4 (strict)".
  const std::string& origin() const { return node_.origin; }
  // Returns the problems of ignored layers.
  const std::vector<std::string>& problems() const { return node_.problems; }

  // Returns whether any layer has a scope. If no layer has a scope, of() returns null for each pod.
  bool has_scopes() const;
  // Returns the rules of a pod; null: the rules of the node.
  std::shared_ptr<const Rules> of(const WorkloadFacts& pod);

  // Returns the lowest value of all workloads, in seconds per second.
  double least_refault_time() const { return least_refault_time_; }

 private:
  // Returns the layers without a scope, and the chosen layers with a scope.
  std::vector<RuleLayer> chosen(const std::vector<bool>& applies) const;

  std::vector<RuleLayer> layers_;
  EffectiveRules node_;
  double least_refault_time_ = 0;
  std::map<std::vector<bool>, std::shared_ptr<const Rules>> known_;  // key: the layers that apply
};

}  // namespace koord::analysis
