// SPDX-License-Identifier: Apache-2.0
// WorkloadRules: the rules of a node, and for the workloads in the scope of a layer their own. Workloads in the same
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
  // A later layer overrides those before it, with a scope or without.
  explicit WorkloadRules(std::vector<RuleLayer> layers = {});

  const Rules& of_node() const { return node_.rules; }
  // "overQuiet 3 (configuration), all others built in; of some workloads: overQuiet 4 (strict)"
  const std::string& origin() const { return node_.origin; }
  // Names the layers that are left out.
  const std::vector<std::string>& problems() const { return node_.problems; }

  // Whether any layer has a scope. Without, of() is null for each pod.
  bool has_scopes() const;
  // Null: those of the node.
  std::shared_ptr<const Rules> of(const WorkloadFacts& pod);

  // The lowest one of any workload, in seconds per second.
  double least_refault_time() const { return least_refault_time_; }

 private:
  // Those without a scope, and of the others those that are chosen.
  std::vector<RuleLayer> chosen(const std::vector<bool>& applies) const;

  std::vector<RuleLayer> layers_;
  EffectiveRules node_;
  double least_refault_time_ = 0;
  std::map<std::vector<bool>, std::shared_ptr<const Rules>> known_;  // by the layers that apply
};

}  // namespace koord::analysis
