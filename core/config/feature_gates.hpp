// SPDX-License-Identifier: Apache-2.0
// Feature gates in Kubernetes' form: named switches with a stage, set by `featureGates:` and
// `--feature-gates`. A gate becomes known when its plugin's manifest is read, so settings are applied after
// all gates were added. A value type: for a reload, copy, apply to the copy, and swap. [one thread at a time;
// const functions any]
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace koord::config {

enum class Stage : std::uint8_t { alpha, beta, ga };

std::string_view to_string(Stage stage);
Result<Stage> parse_stage(std::string_view name);

struct GateSpec {
  std::string name;
  Stage stage = Stage::alpha;
  bool default_on = false;
  bool locked = false;  // to its default, as Kubernetes does with features that are there to stay

  bool operator==(const GateSpec&) const = default;
};

struct GateState {
  std::string name;
  Stage stage = Stage::alpha;
  bool default_on = false;
  bool enabled = false;
  std::string origin;  // "default", "AllAlpha", "AllBeta", or the argument of apply()
};

using GateMap = std::map<std::string, bool>;

// "A=true,B=false"; true and false also as Go's ParseBool takes them (1, t, T, TRUE, …).
Result<GateMap> parse_gates(std::string_view text);

class FeatureGates {
 public:
  // Makes a gate known. Adding the same again changes nothing; another stage or default under the name is an
  // error.
  Result<void> add(GateSpec spec);

  // Sets gates, all or none. Names may be `AllAlpha` and `AllBeta`, which set every gate of the stage that was not set
  // by name. Later calls win over earlier ones. list() shows `origin`, such as "--feature-gates". The error lists every
  // name that is unknown (with the nearest known one) or locked.
  Result<void> apply(const GateMap& settings, std::string_view origin);
  Result<void> apply(std::string_view settings, std::string_view origin);

  bool known(std::string_view name) const;
  // False for an unknown name.
  bool enabled(std::string_view name) const;

  // By name.
  std::vector<GateState> list() const;

 private:
  struct Setting {
    bool on = false;
    std::string origin;
  };
  GateState state_of(const GateSpec& spec) const;
  Result<void> check(const std::string& name, bool on) const;
  std::vector<std::string> names() const;

  std::map<std::string, GateSpec, std::less<>> gates_;
  std::map<std::string, Setting, std::less<>> settings_;  // by name, All* included
};

}  // namespace koord::config
