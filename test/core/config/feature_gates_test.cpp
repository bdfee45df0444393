// SPDX-License-Identifier: Apache-2.0
#include "core/config/feature_gates.hpp"

#include <doctest/doctest.h>

using namespace koord::config;

namespace {

FeatureGates three_gates() {
  FeatureGates gates;
  REQUIRE(gates.add({"Alpha", Stage::alpha, false}));
  REQUIRE(gates.add({"Beta", Stage::beta, true}));
  REQUIRE(gates.add({"Stable", Stage::ga, true, true}));
  return gates;
}

std::string error_of(const koord::Result<void>& result) { return result ? "" : result.error().message(); }

}  // namespace

TEST_CASE("a gate that was not set has its default") {
  const FeatureGates gates = three_gates();
  CHECK_FALSE(gates.enabled("Alpha"));
  CHECK(gates.enabled("Beta"));
  CHECK(gates.enabled("Stable"));
}

TEST_CASE("gates are set by a map or by a text in Kubernetes' form") {
  FeatureGates gates = three_gates();
  REQUIRE(gates.apply(GateMap{{"Alpha", true}}, "featureGates"));
  CHECK(gates.enabled("Alpha"));
  REQUIRE(gates.apply("Alpha=false,Beta=false", "--feature-gates"));
  CHECK_FALSE(gates.enabled("Alpha"));
  CHECK_FALSE(gates.enabled("Beta"));
}

TEST_CASE("AllAlpha and AllBeta set the gates of their stage") {
  FeatureGates gates = three_gates();
  REQUIRE(gates.apply("AllAlpha=true,AllBeta=false", "--feature-gates"));
  CHECK(gates.enabled("Alpha"));
  CHECK_FALSE(gates.enabled("Beta"));
  CHECK(gates.enabled("Stable"));
}

TEST_CASE("a gate set by name wins over AllAlpha, whatever the order") {
  FeatureGates gates = three_gates();
  REQUIRE(gates.apply("Alpha=false", "featureGates"));
  REQUIRE(gates.apply("AllAlpha=true", "--feature-gates"));
  CHECK_FALSE(gates.enabled("Alpha"));
}

TEST_CASE("AllBeta leaves a locked gate alone") {
  FeatureGates gates;
  REQUIRE(gates.add({"Pinned", Stage::beta, true, true}));
  REQUIRE(gates.apply("AllBeta=false", "--feature-gates"));
  CHECK(gates.enabled("Pinned"));
}

TEST_CASE("a locked gate may be set to its default only") {
  FeatureGates gates = three_gates();
  CHECK(error_of(gates.apply("Stable=false", "x")) == "the feature gate 'Stable' is locked to true");
  CHECK(gates.apply("Stable=true", "x"));
}

TEST_CASE("an unknown gate is an error that names the nearest known one") {
  FeatureGates gates = three_gates();
  CHECK(error_of(gates.apply("Alhpa=true", "x")) == "unknown feature gate 'Alhpa', did you mean 'Alpha'?");
  CHECK(error_of(gates.apply("AllAlfa=true", "x")) == "unknown feature gate 'AllAlfa', did you mean 'AllAlpha'?");
  CHECK(error_of(gates.apply("Zzzzzzzzz=true", "x")) == "unknown feature gate 'Zzzzzzzzz'");
}

TEST_CASE("settings with any error change nothing, and every error is reported") {
  FeatureGates gates = three_gates();
  CHECK(error_of(gates.apply("Alpha=true,Bata=true,Stable=false", "x")) ==
        "unknown feature gate 'Bata', did you mean 'Beta'?\nthe feature gate 'Stable' is locked to true");
  CHECK_FALSE(gates.enabled("Alpha"));
}

TEST_CASE("the list has name, stage, default, state and source of each gate") {
  FeatureGates gates = three_gates();
  REQUIRE(gates.apply("AllAlpha=true", "featureGates"));
  REQUIRE(gates.apply("Beta=false", "--feature-gates"));
  const std::vector<GateState> list = gates.list();
  REQUIRE(list.size() == 3);
  CHECK((list[0].name == "Alpha" && list[0].enabled && list[0].origin == "AllAlpha" && !list[0].default_on));
  CHECK((list[1].name == "Beta" && !list[1].enabled && list[1].origin == "--feature-gates" && list[1].default_on));
  CHECK((list[2].stage == Stage::ga && list[2].enabled && list[2].origin == "default"));
}

TEST_CASE("two plugins may share a gate when they agree on it") {
  FeatureGates gates = three_gates();
  CHECK(gates.add({"Alpha", Stage::alpha, false}));
  CHECK(error_of(gates.add({"Alpha", Stage::beta, true})) ==
        "the gate 'Alpha' is known as alpha, default false, and now comes as beta, default true");
}

TEST_CASE("a gate's name is letters and digits and not AllAlpha") {
  FeatureGates gates;
  for (const char* bad : {"", "1st", "Has-Dash", "Has Space", "A=b", "AllAlpha", "AllBeta"})
    CHECK_FALSE(gates.add({bad, Stage::alpha, false}));
  CHECK(gates.add({"PSICollector2", Stage::alpha, false}));
}

TEST_CASE("a gate is on or off by any of Go's booleans") {
  for (const char* on : {"1", "t", "T", "true", "TRUE", "True"}) CHECK(parse_gates(std::string("A=") + on)->at("A"));
  for (const char* off : {"0", "f", "F", "false", "FALSE", "False"})
    CHECK_FALSE(parse_gates(std::string("A=") + off)->at("A"));
}

TEST_CASE("a list of gates may hold spaces and an empty end") {
  CHECK(*parse_gates("") == GateMap{});
  CHECK(*parse_gates(" A = true , B=false,") == GateMap{{"A", true}, {"B", false}});
}

TEST_CASE("an invalid list of gates is an error that quotes the invalid part") {
  CHECK(parse_gates("A=true,B").error().message() ==
        "'B' is not a gate's setting, expected 'Name=true' or 'Name=false'");
  CHECK(parse_gates("A=yes").error().message() == "'A=yes' is not a gate's setting, expected true or false");
  CHECK(parse_gates("=true").error().message() ==
        "'=true' is not a gate's setting, expected 'Name=true' or 'Name=false'");
  CHECK(parse_gates("A=true,A=false").error().message() == "the gate 'A' is set to true and to false");
}

TEST_CASE("a stage reads back as it is written") {
  for (const char* name : {"alpha", "beta", "ga"}) CHECK(to_string(*parse_stage(name)) == name);
  CHECK(parse_stage("GA").error().message() == "'GA' is not a stage (alpha, beta, ga)");
}
