// SPDX-License-Identifier: Apache-2.0
// RuleInForce: the constants by which the plugin judges: built in, overridden by its configuration, overridden by the
// cluster's objects InterferenceDetectionRule, which the agent keeps in koord.kv/1. Reports them and their origin as
// the capability "verdict.rule". Header-only. Used on the plugin's strand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/analysis/rule_layers.hpp"
#include "koordetector/plugin.hpp"

namespace koord::interference {

class RuleInForce {
 public:
  // `of_cluster`: take the objects of the cluster.
  RuleInForce(const koord_host* host, analysis::RuleLayer of_configuration, bool of_cluster)
      : host_(host), kv_(host), of_configuration_(std::move(of_configuration)), takes_cluster_(of_cluster) {
    if (takes_cluster_) text_ = kv_.get(analysis::kRuleLayersKey).value_or("");
    compose();
  }

  // Reads the objects of the cluster again. True: they are others.
  bool refresh() {
    if (!takes_cluster_) return false;
    std::string text = kv_.get(analysis::kRuleLayersKey).value_or("");
    if (text == text_) return false;
    text_ = std::move(text);
    compose();
    return true;
  }

  const analysis::Rules& rules() const { return effective_.rules; }
  const std::string& origin() const { return effective_.origin; }
  // Names the layers that are left out.
  const std::vector<std::string>& problems() const { return effective_.problems; }

 private:
  void compose() {
    std::vector<analysis::RuleLayer> layers{of_configuration_};
    for (analysis::RuleLayer& layer : analysis::read_rule_layers(text_).layers) {
      layer.source = "InterferenceDetectionRule " + layer.source;
      layers.push_back(std::move(layer));
    }
    effective_ = analysis::effective_rules(layers);
    std::string detail = effective_.origin;
    for (const std::string& problem : effective_.problems) detail += "; left out: " + problem;
    plugin::require<koord_svc_capabilities>(host_, "koord.capabilities/1")
        ->report(host_, plugin::str("verdict.rule"),
                 effective_.problems.empty() ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_BROKEN,
                 plugin::str(detail));
  }

  const koord_host* host_;
  plugin::Kv kv_;
  analysis::RuleLayer of_configuration_;
  bool takes_cluster_;
  std::string text_;
  analysis::EffectiveRules effective_;
};

}  // namespace koord::interference
