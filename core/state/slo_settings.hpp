// SPDX-License-Identifier: Apache-2.0
// SloSettings: makes the NodeSLO of each node from the cluster's settings, the ConfigMap slo-controller-config:
// built-in defaults, over them the strategy for all nodes, over that the first entry that selects the node. A document
// that cannot be read, or has an invalid value or selector anywhere, is rejected as a whole, and the last good one of
// its key stays. Which values are valid is decided by the schema that the agent has (slo_schema.hpp). Pure. [one
// thread]
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/state/pod.hpp"

namespace koord::state {

class ClusterSlo;

// A document that was rejected.
struct SettingsProblem {
  std::string key;    // of the ConfigMap, "resource-threshold-config"
  std::string text;   // all reasons, on one line
  bool kept = false;  // an earlier document of the key still holds; else the defaults do

  bool operator==(const SettingsProblem&) const = default;
};
std::string text_of(const SettingsProblem& problem);

class SloSettings {
 public:
  static constexpr std::size_t kMostReasons = 8;  // in one problem; more are counted

  SloSettings();

  // `data`: the ConfigMap's, as JSON; empty: there is no ConfigMap, and the defaults hold. Data that is not a mapping
  // is one problem without a key, and everything stays as it is.
  std::vector<SettingsProblem> take(std::string_view data);

  struct NodeSpec {
    std::string spec;     // of the NodeSLO, JSON with the schema's names and order, without unknown fields
    std::string problem;  // about the node's own annotations; empty: none
  };
  NodeSpec spec_of(const StringMap& labels, const StringMap& annotations) const;

 private:
  std::map<std::string, std::string, std::less<>> good_;  // the last good document of each key
  std::shared_ptr<const ClusterSlo> cluster_;             // the same, parsed once for all nodes
};

}  // namespace koord::state
