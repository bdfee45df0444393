// SPDX-License-Identifier: Apache-2.0
#include "core/host/plugin_gates.hpp"

#include <doctest/doctest.h>

using namespace koord;
using namespace koord::host;
using namespace koord::load;

namespace {

Manifest with_gates(std::vector<std::string> names) {
  Manifest manifest;
  manifest.gates = std::move(names);
  return manifest;
}

config::FeatureGates gates(std::initializer_list<std::pair<const char*, bool>> settings) {
  config::FeatureGates gates;
  for (const auto& [name, on] : settings) REQUIRE(gates.add({.name = name, .default_on = on}));
  return gates;
}

std::string config_of(const Manifest& manifest, const config::FeatureGates& gates, std::string written) {
  config::PluginSettings settings;
  settings.config_json = std::move(written);
  return settings_with_gates(manifest, gates, settings).config_json;
}

}  // namespace

TEST_CASE("a plugin of several gates runs while any of them is on") {
  const Manifest manifest = with_gates({"A", "B"});
  CHECK(any_gate_is_on(manifest, gates({{"A", false}, {"B", true}})));
  CHECK_FALSE(any_gate_is_on(manifest, gates({{"A", false}, {"B", false}})));
  CHECK(why_off(manifest) == "none of its feature gates A, B is on");
  CHECK(why_off(with_gates({"A"})) == "its feature gate A is off");
}

TEST_CASE("the configuration of a plugin of several gates has the enabled ones, whatever the operator writes there") {
  const Manifest manifest = with_gates({"A", "B", "C"});
  const config::FeatureGates on = gates({{"A", true}, {"B", false}, {"C", true}});
  CHECK(config_of(manifest, on, "") == R"({"gates":["A","C"]})");
  CHECK(config_of(manifest, on, R"({"x":1})") == R"({"x":1,"gates":["A","C"]})");
  CHECK(config_of(manifest, on, R"({"gates":["B"]})") == R"({"gates":["A","C"]})");
}

TEST_CASE("the configuration of a plugin of one gate stays as it was written") {
  CHECK(config_of(with_gates({"A"}), gates({{"A", true}}), R"({"x":1})") == R"({"x":1})");
}

TEST_CASE("a configuration that is not a JSON object is left to the schema to refuse") {
  CHECK(config_of(with_gates({"A", "B"}), gates({{"A", true}, {"B", true}}), "[1]") == "[1]");
  CHECK(config_of(with_gates({"A", "B"}), gates({{"A", true}, {"B", true}}), "{") == "{");
}
