// SPDX-License-Identifier: Apache-2.0
// RuleInForce: the constants with which the plugin judges. Built-in values are overridden by the configuration and then
// by the cluster's objects InterferenceDetectionRule, which the agent stores in koord.kv/1. Reports them and their
// origin as the capability "verdict.rule". Header-only. Used on the plugin's strand.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/workload_rules.hpp"
#include "koordetector/plugin.hpp"

namespace koord::interference {

class RuleInForce {
 public:
  // `of_cluster`: whether rules from the cluster's objects are used.
  RuleInForce(const koord_host* host, analysis::RuleLayer of_configuration, bool of_cluster)
      : host_(host), kv_(host), of_configuration_(std::move(of_configuration)), takes_cluster_(of_cluster) {
    if (takes_cluster_) text_ = kv_.get(analysis::kRuleLayersKey).value_or("");
    compose();
  }

  // Reads the objects of the cluster again. Returns whether they have changed.
  bool refresh() {
    if (!takes_cluster_) return false;
    std::string text = kv_.get(analysis::kRuleLayersKey).value_or("");
    if (text == text_) return false;
    text_ = std::move(text);
    compose();
    return true;
  }

  const analysis::Rules& rules() const { return rules_.of_node(); }
  // Returns the rules of the pod's workload; null: rules() apply.
  std::shared_ptr<const analysis::Rules> rules_of(const koord_pod& pod) {
    if (!rules_.has_scopes()) return nullptr;
    analysis::WorkloadFacts facts;
    facts.namespace_ = plugin::view(pod.ns);
    facts.owner = {std::string(plugin::view(pod.owner_kind)), std::string(plugin::view(pod.owner_name))};
    for (const koord_label& label : plugin::Strided<koord_label>{pod.labels, pod.n_labels, pod.label_stride})
      facts.labels.emplace(plugin::view(label.key), plugin::view(label.value));
    return rules_.of(facts);
  }
  double least_refault_time() const { return rules_.least_refault_time(); }
  const std::string& origin() const { return rules_.origin(); }
  // Returns the layers that are left out, with the reasons.
  const std::vector<std::string>& problems() const { return rules_.problems(); }

 private:
  void compose() {
    std::vector<analysis::RuleLayer> layers{of_configuration_};
    for (analysis::RuleLayer& layer : analysis::read_rule_layers(text_).layers) {
      layer.source = "InterferenceDetectionRule " + layer.source;
      layers.push_back(std::move(layer));
    }
    rules_ = analysis::WorkloadRules(std::move(layers));
    std::string detail = origin();
    for (const std::string& problem : problems()) detail += "; left out: " + problem;
    plugin::require<koord_svc_capabilities>(host_, "koord.capabilities/1")
        ->report(host_, plugin::str("verdict.rule"),
                 problems().empty() ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_BROKEN, plugin::str(detail));
  }

  const koord_host* host_;
  plugin::Kv kv_;
  analysis::RuleLayer of_configuration_;
  bool takes_cluster_;
  std::string text_;
  analysis::WorkloadRules rules_;
};

}  // namespace koord::interference
