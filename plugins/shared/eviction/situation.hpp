// SPDX-License-Identifier: Apache-2.0
// Inputs and results of the features in one round. Plain values. [any thread]
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/shared/eviction/rules.hpp"

namespace koord::eviction {

struct Situation {
  slo::Threshold slo;
  std::vector<std::string> features;     // features with enabled gates
  std::optional<std::int64_t> capacity;  // capacity of the node, milli-cores or bytes
  Allocatable allocatable;
  std::vector<Candidate> pods;  // the pods with their usage

  std::map<std::string, std::string, std::less<>>
      inactive;  // features that an invalid value of the NodeSLO switches off, with the reason

  bool is_on(std::string_view feature) const {
    return std::find(features.begin(), features.end(), feature) != features.end();
  }
};

struct Decision {
  std::vector<Demand> demands;       // demands in the order of the features
  std::vector<std::string> unknown;  // "FEATURE: why it cannot decide"; a feature with no need has no entry

  // Returns whether the feature is on and no invalid value makes it inactive. The agent logs invalid values.
  static bool may_act(const Situation& situation, std::string_view feature) {
    return situation.is_on(feature) && !situation.inactive.contains(feature);
  }
  void cannot(std::string_view feature, std::string_view why) {
    unknown.push_back(std::string(feature) + ": " + std::string(why));
  }
};

}  // namespace koord::eviction
