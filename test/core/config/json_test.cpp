// SPDX-License-Identifier: Apache-2.0
#include "core/config/json.hpp"

#include <doctest/doctest.h>

#include <boost/json/value.hpp>

using koord::config::yaml_to_json;

namespace {

std::string json_of(std::string_view yaml) {
  const koord::Result<std::string> json = yaml_to_json(yaml, "f");
  return json ? *json : "error: " + json.error().message();
}

}  // namespace

TEST_CASE("plain scalars are typed by YAML's core schema") {
  CHECK(json_of("[null, ~, , true, False]") == "[null,null,null,true,false]");
  CHECK(json_of("[1, -2, +3, 0x1f, 0o17, 007]") == "[1,-2,3,31,15,7]");
  CHECK(json_of("[9223372036854775808, 1.5, .5, 1e3]") == "[9223372036854775808,1.5E0,5E-1,1E3]");
}

TEST_CASE("text that only resembles a number or a boolean is a string") {
  CHECK(json_of("[yes, inf, nan, 1.2.3, 0x, '+', '-', --1, +-1, 1h, 12:30]") ==
        R"(["yes","inf","nan","1.2.3","0x","+","-","--1","+-1","1h","12:30"])");
}

TEST_CASE("a quoted scalar is a string whatever it looks like") {
  CHECK(json_of(R"(["1", 'true', "null", !!str 5])") == R"(["1","true","null","5"])");
}

TEST_CASE("mappings keep their order") { CHECK(json_of("{b: 1, a: {c: [x]}}") == R"({"b":1,"a":{"c":["x"]}})"); }

TEST_CASE("JSON is valid YAML and is read unchanged") {
  constexpr const char* json = R"({"kind":"PodList","items":[{"a":1,"b":"x\ny","c":null}]})";
  CHECK(json_of(json) == json);
}

TEST_CASE("an alias stands for a copy of its anchor") {
  CHECK(json_of("{a: &x {k: 1}, b: *x}") == R"({"a":{"k":1},"b":{"k":1}})");
}

TEST_CASE("infinity and not-a-number are errors with their place") {
  CHECK(json_of("a: .inf") == "error: JSON has no number '.inf', expected a finite one at f:1:4");
  CHECK(json_of("a: -.Inf") == "error: JSON has no number '-.Inf', expected a finite one at f:1:4");
  CHECK(json_of("a: .nan") == "error: JSON has no number '.nan', expected a finite one at f:1:4");
}

// Earlier the reader of pods and objects had its own rules. It read each of these as text, except for the last two
// lines.
TEST_CASE("a scalar is the same in each YAML file: the configuration, a kubeconfig, objects of Kubernetes") {
  struct {
    const char *yaml, *json;
  } const kScalars[] = {
      {"True", "true"}, {"TRUE", "true"},    {"False", "false"},      {"FALSE", "false"},
      {"Null", "null"}, {"NULL", "null"},    {"0x1f", "31"},          {"0o17", "15"},
      {"010", "10"},    {"00.5", "5E-1"},    {"!!int 5", "5"},        {"9223372036854775808", "9223372036854775808"},
      {"5", "5"},       {"1.5", "1.5E0"},    {"null", "null"},        {"~", "null"},
      {"true", "true"}, {"yes", R"("yes")"}, {"1_000", R"("1_000")"}, {"2026-07-24", R"("2026-07-24")"},
  };
  for (const auto& scalar : kScalars) CHECK_MESSAGE(json_of(scalar.yaml) == scalar.json, scalar.yaml);
}

TEST_CASE("limits can be widened for a larger document") {
  std::string text = "[";
  for (int i = 0; i < 100'001; ++i) text += "1,";
  CHECK(json_of(text + "]") == "error: there are more than 100000 values at f:1:200002");
  CHECK(koord::config::read_yaml_as_json(text + "]", "f", {.values = 200'000}));
}

TEST_CASE("a key written twice is an error") {
  CHECK(json_of("{a: 1, a: 2}") == "error: duplicate key 'a' at f:1:8, first at f:1:2");
}
