// SPDX-License-Identifier: Apache-2.0
#include "core/config/feature_gates.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/base/parse.hpp"

namespace koord::config {
namespace {

constexpr std::array<std::string_view, 3> kStages{"alpha", "beta", "ga"};  // in the order of the enumerators

constexpr std::string_view kAllAlpha = "AllAlpha";
constexpr std::string_view kAllBeta = "AllBeta";

bool is_group(std::string_view name) { return name == kAllAlpha || name == kAllBeta; }

// Returns the name that sets all gates of a stage; "": none for ga.
std::string_view group_of(Stage stage) {
  if (stage == Stage::alpha) return kAllAlpha;
  return stage == Stage::beta ? kAllBeta : std::string_view();
}

bool is_gate_name(std::string_view name) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return name.find_first_of(kLetters) == 0 && name.find_first_not_of(kAllowed) == name.npos;
}

std::string describe(const GateSpec& spec) {
  return std::string(to_string(spec.stage)) + ", default " + (spec.default_on ? "true" : "false") +
         (spec.locked ? ", locked" : "");
}

// Parses a boolean as Go's strconv.ParseBool does.
std::optional<bool> parse_bool(std::string_view text) {
  for (std::string_view name : {"1", "t", "T", "true", "TRUE", "True"})
    if (text == name) return true;
  for (std::string_view name : {"0", "f", "F", "false", "FALSE", "False"})
    if (text == name) return false;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Stage stage) { return kStages[static_cast<std::size_t>(stage)]; }

Result<Stage> parse_stage(std::string_view name) {
  for (std::size_t i = 0; i < kStages.size(); ++i)
    if (kStages[i] == name) return static_cast<Stage>(i);
  return invalid("'" + std::string(name.substr(0, 64)) + "' is not a stage (alpha, beta, ga)");
}

Result<GateMap> parse_gates(std::string_view text) {
  GateMap gates;
  while (auto item = next_field(text, ',')) {
    const std::string_view setting = trim(*item);
    if (setting.empty()) continue;
    const std::size_t equals = setting.find('=');
    const std::string name(trim(setting.substr(0, equals)));
    if (equals == setting.npos || name.empty())
      return invalid("'" + std::string(setting) + "' is not a gate's setting, expected 'Name=true' or 'Name=false'");
    const std::optional<bool> on = parse_bool(trim(setting.substr(equals + 1)));
    if (!on) return invalid("'" + std::string(setting) + "' is not a gate's setting, expected true or false");
    if (const auto [known, fresh] = gates.emplace(name, *on); !fresh && known->second != *on)
      return invalid("the gate '" + name + "' is set to true and to false");
  }
  return gates;
}

Result<void> FeatureGates::add(GateSpec spec) {
  if (is_group(spec.name)) return invalid("the gate name '" + spec.name + "' is reserved for the gates of a stage");
  if (!is_gate_name(spec.name))
    return invalid("'" + spec.name + "' is not a gate name, expected letters and digits, a letter first");
  const auto [known, fresh] = gates_.emplace(spec.name, spec);
  if (!fresh && known->second != spec)
    return invalid("the gate '" + spec.name + "' is known as " + describe(known->second) + ", and now comes as " +
                   describe(spec));
  return {};
}

Result<void> FeatureGates::apply(const GateMap& settings, std::string_view origin) {
  std::vector<std::string> problems;
  for (const auto& [name, on] : settings)
    if (const Result<void> allowed = check(name, on); !allowed) problems.push_back(allowed.error().text);
  if (!problems.empty()) return invalid(join(problems, "\n"));
  for (const auto& [name, on] : settings) settings_[name] = {on, std::string(origin)};
  return {};
}

Result<void> FeatureGates::apply(std::string_view settings, std::string_view origin) {
  return apply(TRY(parse_gates(settings)), origin);
}

Result<void> FeatureGates::check(const std::string& name, bool on) const {
  if (is_group(name)) return {};
  const auto gate = gates_.find(name);
  if (gate == gates_.end()) {
    const std::string near = nearest(name, names());
    return invalid("unknown feature gate '" + name + "'" + (near.empty() ? "" : ", did you mean '" + near + "'?"));
  }
  if (gate->second.locked && on != gate->second.default_on)
    return invalid("the feature gate '" + name + "' is locked to " + (gate->second.default_on ? "true" : "false"));
  return {};
}

std::vector<std::string> FeatureGates::names() const {
  std::vector<std::string> names{std::string(kAllAlpha), std::string(kAllBeta)};
  for (const auto& [name, spec] : gates_) names.push_back(name);
  return names;
}

bool FeatureGates::known(std::string_view name) const { return gates_.contains(name); }

bool FeatureGates::enabled(std::string_view name) const {
  const auto gate = gates_.find(name);
  return gate != gates_.end() && state_of(gate->second).enabled;
}

GateState FeatureGates::state_of(const GateSpec& spec) const {
  GateState state{spec.name, spec.stage, spec.default_on, spec.default_on, "default"};
  if (const auto by_name = settings_.find(spec.name); by_name != settings_.end()) {
    state.enabled = by_name->second.on;
    state.origin = by_name->second.origin;
  } else if (const auto group = settings_.find(group_of(spec.stage)); group != settings_.end() && !spec.locked) {
    state.enabled = group->second.on;
    state.origin = group->first;
  }
  return state;
}

std::vector<GateState> FeatureGates::list() const {
  std::vector<GateState> states;
  for (const auto& [name, spec] : gates_) states.push_back(state_of(spec));
  return states;
}

}  // namespace koord::config
